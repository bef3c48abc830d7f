import type { Failure } from '../core/failure.ts';

/** What a writer of requests tells the exchange that it writes for. */
export interface RequestWriterOwner {
  onWritten(bytes: number): void;
  /** The system does not take what was written: the peer is slow to read, or stuck. */
  onWriteBlocked(): void;
  /** What was written reached the system; the peer takes bytes. */
  onWriteProgress(): void;
  /** The last byte of the request was given to the socket. */
  onRequestEnd(): void;
  onBodyFailure(failure: Failure): void;
  /** The body does not have the length that its head declares, or its trailers cannot be written. */
  onBodyInvalid(message: string): void;
}
