import { encodeChunked } from '../support/fields.ts';
import type { RawClient } from '../support/raw-client.ts';
import { connectRaw } from '../support/raw-client.ts';
import type { RawResponse } from '../support/raw-response.ts';
import type { Asking, Heard, WireClient } from './asking.ts';
import { patienceMs } from './asking.ts';

/** A client that writes its bytes itself. */
export async function connectHttp1(port: number): Promise<WireClient> {
  const raw = await connectRaw(port);
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  const client: WireClient = {
    ask(asking, bodyBytes) {
      number += 1;
      const body = bodyBytesOf(asking);
      rest = body.subarray(bodyBytes);
      void raw.send(Buffer.concat([headOf(asking), body.subarray(0, bodyBytes)]), [asking.method]);
    },
    sendRest() {
      void raw.send(rest);
    },
    raw(bytes) {
      number = Math.max(1, number);
      void raw.send(bytes, number === 1 ? ['GET'] : []);
    },
    get heard() {
      return heardOf(raw, number);
    },
    leave(how) {
      if (how === 'reset') raw.reset();
      else raw.destroy();
    },
    halfClose: () => raw.halfClose(),
    stopReading: () => raw.pauseReading(),
    readOn: () => raw.resumeReading(),
    waitFor: async (check, what) => {
      await raw.waitFor(check, what, patienceMs);
    },
    close: () => raw.destroy(),
  };
  return client;
}

/** With its framing. */
function bodyBytesOf({ body, isChunked, trailers }: Asking): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  return isChunked || trailers !== undefined ? encodeChunked([body], trailers) : body;
}

function headOf({ method, path, fields, body, isChunked, trailers }: Asking): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: test.example',
    ...fields.map(([name, value]) => `${name}: ${value}`),
  ];
  if (trailers !== undefined) lines.push(`Trailer: ${Object.keys(trailers).join(', ')}`);
  if (body !== undefined)
    lines.push(
      isChunked || trailers !== undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${String(body.length)}`,
    );
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function heardOf(raw: RawClient, number: number): Heard {
  const interim = raw.interim.map(({ status }) => status);
  const finished = raw.responses[number - 1];
  const answer = finished ?? raw.begun[number - 1];
  if (answer === undefined) {
    const ending = raw.ending === undefined ? undefined : 'none';
    return { status: 0, interim, text: '', bodyBytes: 0, trailers: [], ending, fault: undefined, values: () => [] };
  }
  return {
    status: answer.status,
    interim,
    text: answer.text,
    bodyBytes: answer.body.length,
    trailers: answer.trailers,
    ending: finished === undefined ? undefined : endingOf(finished),
    fault: answer.fault,
    values: (name) => answer.values(name),
  };
}

function endingOf({ complete, status }: RawResponse): Heard['ending'] {
  if (complete) return 'whole';
  return status === 0 ? 'none' : 'cut';
}
