// The client of bench/memory.ts. `node body-client.ts PORT SCENARIO BYTES` moves one body through the gateway, compares
// what was sent with what arrived; it ends with code 1 and the reason when they differ.
import { type IncomingMessage, request as startRequest, type RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type BodyDigest, createBody, readSlowly } from './body.ts';

const [port, scenario, size] = process.argv.slice(2);
const byteCount = Number(size);
const target: RequestOptions = { host: '127.0.0.1', port: Number(port), agent: false };

async function upload(headers: Record<string, string | number>): Promise<void> {
  const body = createBody(byteCount);
  const request = startRequest({ ...target, method: 'PUT', path: '/upload', headers });
  const answered = answerTo(request);
  const [sent, answer] = await Promise.allSettled([pipeline(body.stream, request), answered]);
  // An answer tells more than the broken pipe that an early one leaves behind.
  if (answer.status === 'rejected') throw answer.reason;
  const answerText = await text(answer.value);
  if (answer.value.statusCode !== 200)
    throw new Error(`status ${answer.value.statusCode}: ${answerText.slice(0, 300)}`);
  if (sent.status === 'rejected') throw sent.reason;
  compareDigests(body.digest(), JSON.parse(answerText) as BodyDigest);
}

async function download(path: string): Promise<void> {
  const request = startRequest({ ...target, path });
  request.end();
  const answer = await answerTo(request);
  if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}: ${(await text(answer)).slice(0, 300)}`);
  const expected = createBody(byteCount);
  const received = await readSlowly(answer, byteCount);
  for await (const piece of expected.stream) void piece;
  compareDigests(expected.digest(), received);
}

function answerTo(request: ReturnType<typeof startRequest>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => request.on('response', resolve).on('error', reject));
}

function compareDigests(sent: BodyDigest, received: BodyDigest): void {
  if (sent.byteCount !== received.byteCount)
    throw new Error(`${sent.byteCount} bytes were sent, ${received.byteCount} arrived`);
  if (sent.checksum !== received.checksum)
    throw new Error(`all ${sent.byteCount} bytes arrived, but not the ones that were sent`);
}

async function run(): Promise<void> {
  switch (scenario) {
    case 'upload-sized':
      await upload({ 'Content-Length': byteCount });
      break;
    case 'upload-chunked':
      await upload({ 'Transfer-Encoding': 'chunked' });
      break;
    case 'download-sized':
      await download('/sized');
      break;
    case 'download-chunked':
      await download('/chunked');
      break;
    default:
      throw new Error(`no scenario ${JSON.stringify(scenario)}`);
  }
}

await run().catch((error: unknown) => {
  console.error(String(error));
  process.exit(1);
});
