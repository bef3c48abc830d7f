/**
 * What the clients are asked about: the smallest server there can be, in a process of its own, so that its cost is small beside
 * theirs. `/` is answered at once. Of the first attempts at `/flaky`, three of ten get a 503; a retry that says so by
 * `Request-Attempt` does not. Sends its port to its parent.
 */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

const FIELDS = `Content-Type: text/plain; charset=utf-8\r\nDate: ${new Date().toUTCString()}\r\nVary: Accept\r\nConnection: keep-alive\r\nKeep-Alive: timeout=600`;
const answer = (line: string, body: string): Buffer =>
  Buffer.from(`HTTP/1.1 ${line}\r\n${FIELDS}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
const good = answer('200 OK', 'hello, this is a small answer\n');
const bad = answer('503 Service Unavailable', 'come again\n');
let flakyCount = 0;

const server = createServer({ noDelay: true }, (socket) => {
  let text = '';
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    // Clients of one connection send one request after another, without a body.
    if (!text.endsWith('\r\n\r\n')) return;
    const isFirstFlaky = text.startsWith('GET /flaky') && !/\r\nrequest-attempt:/i.test(text);
    text = '';
    if (isFirstFlaky) flakyCount += 1;
    socket.write(isFirstFlaky && flakyCount % 10 < 3 ? bad : good);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
