import type { Failure } from '../../core/failure.ts';
import type { FieldList, ParseFault, ResponseHead } from '../../http1/message.ts';
import type { Http1Connection } from './http1-connection.ts';

/** Who waits for a connection, and holds it until its exchange begins. */
export interface ConnectionClaimant {
  /** A connection is being established for this claimant. */
  onConnecting(connection: Http1Connection): void;
  /** The connection is this claimant's now: it was just established (`idleForMs` −1), or had waited in the pool. */
  onConnection(connection: Http1Connection, idleForMs: number): void;
  onNoConnection(failure: Failure): void;
  /** It ended, or became unusable, before a byte was written to it. */
  onConnectionLost(error: Error | undefined): void;
}

/** The exchange that runs on a connection. */
export interface ConnectionUser {
  /** Counted up by the connection as bytes arrive. */
  bytesReceived: number;
  onInformational(head: ResponseHead): void;
  onHead(head: ResponseHead): void;
  onData(chunk: Buffer): void;
  onResponseEnd(trailers: FieldList): void;
  onFault(fault: ParseFault): void;
  /** Everything that arrived in one read was parsed; `extra` when bytes came behind the end of the response. */
  onRead(extra: boolean): void;
  /** A write failed; what the peer sent before can still be read. `nothingLeft`: the system took no byte of the request. */
  onWriteError(error: Error, nothingLeft: boolean): void;
  /** No byte will come any more: FIN (no error) or a dead connection. */
  onPeerGone(error: Error | undefined): void;
  onDeadline(nowMs: number): void;
}
