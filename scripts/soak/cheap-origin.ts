import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A server that costs next to nothing: it reads targets and answers from two fixed texts. */
export interface CheapOrigin {
  readonly port: number;
  close(): Promise<void>;
}

const own = answer('200 OK', 'own');
const mixed = answer('200 OK', 'mixed');
const unavailable = answer('503 Service Unavailable', 'own');

function answer(status: string, body: string): string {
  return `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/**
 * Answers `own` to a target whose first segment is a number n with n % 2 = `index`, `mixed` to every other one, and 503 to
 * every 50th request that is no health check.
 */
export async function startCheapOrigin(index: 0 | 1): Promise<CheapOrigin> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        const target = text.slice(text.indexOf(' ') + 1, text.indexOf(' HTTP/'));
        text = text.slice(end + 4);
        count += 1;
        if (count % 50 === 0 && !target.endsWith('/health')) socket.write(unavailable);
        else socket.write(Number(target.split('/')[1]) % 2 === index ? own : mixed);
      }
    });
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
