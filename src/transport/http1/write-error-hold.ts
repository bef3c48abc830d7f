import type { Socket } from 'node:net';

type WriteCallback = (error?: Error | null) => void;

/**
 * Keeps a failed write from destroying the socket. A peer that rejects an upload answers and closes; our next write then
 * fails, and Node would throw the unread answer away with the socket. Held back, the error waits until what was received
 * has been read. The socket must be destroyed by its owner afterwards.
 *
 * `onWriteError` learns whether the write failed at once (then the system took no byte of it) or later.
 */
export function holdWriteErrors(
  socket: Socket,
  onWriteStarted: () => void,
  onWriteError: (error: Error, atOnce: boolean) => void,
): void {
  const write = socket._write;
  const writev = socket._writev;
  // The stream layer has one write in flight, so one slot and one callback serve all.
  let callback: WriteCallback | undefined;
  let starting = false;
  const settled: WriteCallback = (error) => {
    const proceed = callback;
    callback = undefined;
    if (error === undefined || error === null) proceed?.();
    else if (socket.destroyed || socket.connecting) proceed?.(error);
    else onWriteError(error, starting);
  };
  socket._write = (chunk: unknown, encoding, proceed) => {
    callback = proceed;
    starting = true;
    onWriteStarted();
    write.call(socket, chunk, encoding, settled);
    starting = false;
  };
  if (writev === undefined) return;
  socket._writev = (chunks, proceed) => {
    callback = proceed;
    starting = true;
    onWriteStarted();
    writev.call(socket, chunks, settled);
    starting = false;
  };
}
