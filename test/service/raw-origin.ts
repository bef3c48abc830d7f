import { createServer, type AddressInfo, type Socket } from 'node:net';

/** A callee in this very process that no hook sees: it writes its answers on the socket. */
export interface RawOrigin {
  readonly url: string;
  close(): void;
}

/** @param answer the status and further header lines, each with its CRLF, for a path */
export async function startRawOrigin(answer: (path: string) => readonly [number, string]): Promise<RawOrigin> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        const path = text.split(' ', 2)[1] ?? '/';
        text = text.slice(end + 4);
        const [status, lines] = answer(path);
        socket.write(`HTTP/1.1 ${String(status)} x\r\ncontent-length: 1\r\n${lines}\r\nx`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
