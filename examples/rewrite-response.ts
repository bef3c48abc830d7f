// Response rewriting: fields of every response, the body of HTML only. A page may come in pieces, so the filter keeps what
// could be the beginning of the word it looks for.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createProxy, fieldValue, removeFields } from 'mulligan/proxy';

const origin = createServer((request, response) => {
  response.setHeader('Server', 'secret/1.2.3');
  response.setHeader('Content-Type', request.url === '/page' ? 'text/html' : 'application/json');
  response.write(request.url === '/page' ? '<a href="http://inter' : '{"href":"http://inter');
  setImmediate(() => response.end(request.url === '/page' ? 'nal/x">x</a>' : 'nal/x"}'));
});
await new Promise<void>((listening) => origin.listen(0, '127.0.0.1', listening));
const { port } = origin.address() as AddressInfo;

const WORD = 'http://internal/';
const proxy = createProxy<{ rest: string }>({
  createContext: () => ({ rest: '' }),
  selectUpstream: () => `127.0.0.1:${port}`,
  // What is encoded cannot be searched.
  upstreamRequestFilter(_exchange, request) {
    request.fields = removeFields(request.fields, new Set(['accept-encoding']));
  },
  responseFilter(_exchange, response) {
    response.filterBody = fieldValue(response.fields, 'content-type') === 'text/html';
    response.fields = removeFields(response.fields, new Set(['server', 'etag']));
  },
  responseBodyFilter({ context }, chunk, end) {
    const text = (context.rest + chunk.toString('latin1')).replaceAll(WORD, 'https://shop.example/');
    const kept = end ? text.length : Math.max(0, text.length - WORD.length + 1);
    context.rest = text.slice(kept);
    return Buffer.from(text.slice(0, kept), 'latin1');
  },
});
const { address } = await proxy.listen('127.0.0.1:0');

for (const path of ['/page', '/data']) {
  const answer = await fetch(`http://127.0.0.1:${address.port}${path}`);
  console.log(answer.headers.get('server'), await answer.text());
}

await proxy.close();
origin.close();

// Prints:
// null <a href="https://shop.example/x">x</a>
// null {"href":"http://internal/x"}
