import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp2Server, createSecureServer } from 'node:http2';
import type { ServerHttp2Stream } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TestContext } from 'node:test';
import { createTestCertificates } from '../support/certificates.ts';
import type { CertifiedKey } from '../support/certificates.ts';
import { fieldValues } from '../support/fields.ts';
import { startHttp2Origin } from '../support/http2-origin.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { connectRaw } from '../support/raw-client.ts';
import { gatewayFile, startGateway, startRig } from '../support/running-gateway.ts';
import type { FileObject, RunningGateway } from '../support/running-gateway.ts';

failOnLeaks();

const certificates = createTestCertificates();
const folder = mkdtempSync(join(tmpdir(), 'mulligan-upstream-'));
after(() => rmSync(folder, { recursive: true }));
const caFile = join(folder, 'ca.pem');
writeFileSync(caFile, certificates.ca);

async function listening(t: TestContext, server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

function gatewayTo(
  t: TestContext,
  addresses: readonly string[],
  upstream: FileObject,
  route: FileObject = {},
): Promise<RunningGateway> {
  return startGateway(t, gatewayFile(addresses, { upstream, route }));
}

const post = { method: 'POST', target: '/orders', body: 'work' };

/** Requests by their number; the first ones are refused. */
async function startRefusing(t: TestContext, refuse: (stream: ServerHttp2Stream) => void, times: number) {
  const bodies: string[] = [];
  let streamCount = 0;
  const server = createHttp2Server();
  server.on('sessionError', () => {});
  server.on('stream', (stream: ServerHttp2Stream) => {
    streamCount += 1;
    stream.on('error', () => {});
    if (streamCount <= times) return refuse(stream);
    stream.setEncoding('utf8');
    let body = '';
    stream.on('data', (text: string) => (body += text));
    stream.on('end', () => {
      bodies.push(body);
      stream.respond({ ':status': 200 });
      stream.end('done');
    });
  });
  const address = await listening(t, server);
  return { address, bodies, streamCount: () => streamCount };
}

test('a POST that the origin refuses is sent once more, and the origin does its work once', async (t) => {
  const origin = await startRefusing(t, (stream) => stream.close(7), 1);
  const gateway = await gatewayTo(t, [origin.address], { protocol: 'http2' });
  const client = await gateway.connect();
  const answer = await client.request(post);
  assert.deepEqual([answer.status, answer.text, origin.bodies], [200, 'done', ['work']]);
  const record = await gateway.record();
  assert.deepEqual(
    record.attempts.map((attempt) => [
      attempt.failure ?? attempt.status,
      attempt.class,
      attempt.protocol,
      attempt.reused,
    ]),
    [
      ['request_rejected', 'rejected', '2', false],
      [200, undefined, '2', false],
    ],
  );
});

test('an origin that refuses for ever is asked twice and no more', async (t) => {
  const origin = await startRefusing(t, (stream) => stream.close(7), 100);
  const gateway = await gatewayTo(t, [origin.address], { protocol: 'http2' });
  const answer = await (await gateway.connect()).request(post);
  assert.equal(answer.status, 502);
  assert.equal(origin.streamCount(), 2);
  assert.equal((await gateway.record()).reason, 'attempts-exhausted');
});

test('a POST behind the last stream of a GOAWAY goes out on another connection', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => {
    if (stream.number === 1) stream.goaway(0, 0);
    else stream.head(201, [], true);
  });
  const gateway = await gatewayTo(t, [origin.key], { protocol: 'http2' });
  const answer = await (await gateway.connect()).request(post);
  assert.equal(answer.status, 201);
  assert.deepEqual(
    origin.streams.map(({ connection }) => connection),
    [1, 2],
  );
});

test('a POST that may have been processed is not sent again, whatever the peer calls it', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => (stream.number === 1 ? stream.goaway(2, 1) : stream.reset(2)));
  const gateway = await gatewayTo(t, [origin.key], { protocol: 'http2' });
  const client = await gateway.connect();
  assert.equal((await client.request(post)).status, 502);
  assert.equal((await client.request(post)).status, 502);
  assert.equal(origin.streams.length, 2);
});

test('overload is backed off from: the budget pays, and the circuit counts it', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => stream.reset(11));
  const gateway = await gatewayTo(
    t,
    [origin.key],
    { protocol: 'http2', circuitBreaker: { consecutiveFailures: 2 } },
    { retry: { attempts: 1, on: ['rejected'], backoff: '10ms', jitter: 'none' } },
  );
  const client = await gateway.connect();
  await client.request({ method: 'GET' });
  const { attempts } = await gateway.record();
  assert.deepEqual(
    attempts.map(({ failure, waitMs }) => [failure, waitMs]),
    [
      ['overloaded', 0],
      ['overloaded', 10],
    ],
  );
  assert.equal((await client.request({ method: 'GET' })).status, 503);
  assert.equal(origin.streams.length, 2);
});

test('an origin that wants HTTP/1.1 gets it, for this request and for those that follow', async (t) => {
  const http2 = createSecureServer({ ...certificates.server, allowHTTP1: true }, (request, response) => {
    if (request.httpVersionMajor === 2) request.stream.close(13);
    else response.end(request.httpVersion);
  });
  http2.on('sessionError', () => {});
  const address = await listening(t, http2);
  const gateway = await gatewayTo(
    t,
    [address],
    { protocol: 'auto', tls: { ca: caFile } },
    { retry: { attempts: 1, on: ['rejected'] } },
  );
  const client = await gateway.connect();
  assert.equal((await client.request({ method: 'GET' })).text, '1.1');
  assert.deepEqual(
    (await gateway.record()).attempts.map(({ failure, protocol }) => [failure, protocol]),
    [
      ['http_1_1_required', '2'],
      [undefined, '1.1'],
    ],
  );
  assert.equal((await client.request({ method: 'GET' })).text, '1.1');
  assert.equal((await gateway.record(2)).attempts.length, 1);
});

for (const [what, certified] of [
  ['is over', certificates.expired],
  ['is for another host', certificates.wrongHost],
  ['nobody we trust has signed', certificates.stranger],
] as const satisfies readonly (readonly [string, CertifiedKey])[]) {
  test(`a certificate that ${what} is a 502 at once, and the same host is not asked again`, async (t) => {
    let connectionCount = 0;
    const server = createHttpsServer(certified, (_, response) => void response.end());
    server.on('connection', () => (connectionCount += 1));
    const address = await listening(t, server);
    const gateway = await gatewayTo(t, [address], { tls: { ca: caFile } });
    const answer = await (await gateway.connect()).request(post);
    assert.equal(answer.status, 502);
    const record = await gateway.record();
    assert.deepEqual([record.attempts.length, record.attempts[0]?.failure], [1, 'tls_certificate_error']);
    assert.equal(connectionCount, 1);
  });

  test(`a POST moves on from a certificate that ${what} to an endpoint with a good one`, async (t) => {
    const bad = await listening(
      t,
      createHttpsServer(certified, (_, response) => void response.end('bad')),
    );
    const good = await listening(
      t,
      createHttpsServer(certificates.server, (_, response) => void response.end('good')),
    );
    const gateway = await gatewayTo(t, [bad, good], { tls: { ca: caFile } });
    const answer = await (await gateway.connect()).request(post);
    assert.equal(answer.text, 'good');
  });
}

/** A gRPC server whose first calls end with their head. */
async function startGrpc(t: TestContext, status: number, times: number) {
  let callCount = 0;
  const server = createHttp2Server();
  server.on('sessionError', () => {});
  server.on('stream', (stream) => {
    callCount += 1;
    stream.on('error', () => {});
    stream.resume();
    stream.on('end', () => {
      if (callCount <= times) {
        return stream.respond(
          { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(status) },
          { endStream: true },
        );
      }
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end('message');
    });
  });
  return { address: await listening(t, server), callCount: () => callCount };
}

const grpcRoute = { retry: { attempts: 1, codes: [{ grpc: ['unavailable'] }], backoff: '1ms' } };
const call = { ...post, headers: { TE: 'trailers', 'Content-Type': 'application/grpc', 'Idempotency-Key': '"k1"' } };

test('a gRPC call that ends as unavailable is made once more where the policy names it, and its trailers pass', async (t) => {
  const origin = await startGrpc(t, 14, 1);
  const gateway = await gatewayTo(t, [origin.address], { protocol: 'http2' }, grpcRoute);
  const answer = await (await gateway.connect()).request(call);
  assert.deepEqual([answer.status, answer.text, answer.trailers], [200, 'message', ['grpc-status', '0']]);
  assert.equal(origin.callCount(), 2);
  assert.deepEqual(
    (await gateway.record()).attempts.map(({ status, grpcStatus }) => [status, grpcStatus]),
    [
      [200, 14],
      [200, undefined],
    ],
  );
});

for (const [what, status, request] of [
  ['with a status that is not named', 13, call],
  ['without a key', 14, { ...call, headers: { 'Content-Type': 'application/grpc' } }],
] as const) {
  test(`a gRPC call ${what} is made once, and its status passes`, async (t) => {
    const origin = await startGrpc(t, status, 1);
    const gateway = await gatewayTo(t, [origin.address], { protocol: 'http2' }, grpcRoute);
    const answer = await (await gateway.connect()).request(request);
    assert.deepEqual([answer.status, fieldValues(answer.fields, 'grpc-status')], [200, [String(status)]]);
    assert.equal(origin.callCount(), 1);
  });
}

test('a gRPC status in an HTTP/1.1 head counts as well', async (t) => {
  let callCount = 0;
  const server = createHttpsServer(certificates.server, (_, response) => {
    callCount += 1;
    if (callCount === 1) response.setHeader('grpc-status', '14');
    response.end();
  });
  const gateway = await gatewayTo(t, [await listening(t, server)], { tls: { ca: caFile } }, grpcRoute);
  const answer = await (await connectRaw(gateway.port, { t })).request({ method: 'GET' });
  assert.deepEqual([answer.status, callCount], [200, 2]);
});

test('Via tells the client in which protocol the answer was received', async (t) => {
  const http2 = await startHttp2Origin(t, (stream) => stream.head(200, [], true));
  const http1 = await startRig(t, {});
  const gateway = await gatewayTo(t, [http2.key], { protocol: 'http2' });
  const overHttp2 = await (await gateway.connect()).request({ method: 'GET' });
  const overHttp1 = await http1.client.request({ method: 'GET' });
  assert.deepEqual([overHttp2.value('via'), overHttp1.value('via')], ['2 mulligan', '1.1 mulligan']);
});

test('a field or a trailer that should stand alone and comes twice passes as it came', async (t) => {
  const seen: string[][] = [];
  const server = createHttp2Server();
  server.on('stream', (stream, _head, _flags, raw: string[]) => {
    stream.on('error', () => {});
    stream.on('trailers', (_trailers, _end, rawTrailers: string[]) => seen.push(raw, rawTrailers));
    stream.resume().on('end', () => stream.respond({ ':status': 204 }));
  });
  const gateway = await gatewayTo(t, [await listening(t, server)], { protocol: 'http2' });
  const twice = [
    ['ETag', 'a'],
    ['ETag', 'b'],
  ] as const;
  const answer = await (
    await gateway.connect()
  ).request({ method: 'POST', headers: twice, body: [Buffer.from('work')], trailers: twice });
  assert.equal(answer.status, 204);
  assert.deepEqual(
    seen.map((raw) => fieldValues(raw, 'etag')),
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  );
});
