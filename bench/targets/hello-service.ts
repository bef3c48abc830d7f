/** A service that answers each request by one call: what `mulligan/register` costs is measured on it. */
import http from 'node:http';

const origin = process.env['ORIGIN'] ?? '';
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

const viaHttp = (answer: (status: number) => void): void => {
  http
    .get(origin, { agent }, (response) => {
      response.resume().on('end', () => answer(response.statusCode ?? 500));
    })
    .on('error', () => answer(500));
};

const viaFetch = (answer: (status: number) => void): void => {
  fetch(origin)
    .then(async (response) => {
      await response.text();
      answer(response.status);
    })
    .catch(() => answer(500));
};

const call = process.env['CLIENT'] === 'fetch' ? viaFetch : viaHttp;

const server = http.createServer((request, response) => {
  if (request.url === '/cpu') {
    const { user, system } = process.cpuUsage();
    response.end(String(user + system));
    return;
  }
  call((status) => {
    response.writeHead(status < 400 ? 200 : 502, { 'content-type': 'text/plain' });
    response.end('hello');
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${String(typeof address === 'object' ? address?.port : 0)}\n`);
});
