import { createRandom } from '../http1/random.ts';
import type { Random } from '../http1/random.ts';
import { readRequests } from '../http1/read-messages.ts';
import type { Wire, WireKind } from '../http1/differential.ts';
import { randomWire } from '../http1/random-wire.ts';
import { connectRaw } from '../support/raw-client.ts';
import { converse, cutUp } from './lane.ts';
import type { Lane } from './lane.ts';

/** A case of one seed; resolves with what is wrong, if anything is. */
export type FuzzCase = (lane: Lane, seed: number) => Promise<string | undefined>;

function wireOf(random: Random, kind: WireKind): Wire {
  for (let tries = 0; tries < 64; tries++) {
    const wire = randomWire(random);
    if (wire.kind === kind) return wire;
  }
  throw new Error(`the generator makes no ${kind}`);
}

function cutsOf(random: Random, bytes: Buffer): number[] {
  return Array.from({ length: random.below(3) }, () => random.below(bytes.length + 1));
}

/** Broken requests through the proxy: what reaches the origin is what the proxy says, with the bodies that a strict reader reads. */
export const requestCase: FuzzCase = async (lane, seed) => {
  const random = createRandom(seed);
  const { bytes } = wireOf(random, 'request');
  lane.reset();
  const { hung, received } = await converse(lane.port, cutUp(bytes, cutsOf(random, bytes)));
  const about = JSON.stringify(bytes.toString('latin1'));
  if (hung) return `the proxy neither answers nor closes: ${about}`;
  if (received.length > 0 && !received.toString('latin1', 0, 9).startsWith('HTTP/1.1 ')) return `no answer to ${about}`;
  const difference = lane.difference();
  if (difference !== undefined) return `${difference}: ${about}`;
  // Behind a CONNECT that was refused the proxy reads on, and the reader here does not.
  if (about.includes('CONNECT ')) return undefined;
  const bodies = new Set(
    readRequests(bytes)
      .messages.filter(({ complete }) => complete)
      .map(({ body }) => body),
  );
  for (const { complete, body } of lane.origin.seen)
    if (complete && !bodies.has(body))
      return `the origin got a body that nobody sent, ${JSON.stringify(body)}: ${about}`;
  return undefined;
};

/** Broken answers through the proxy: the client gets one answer that is HTTP, and the next request gets its own. */
export const responseCase: FuzzCase = async (lane, seed) => {
  const random = createRandom(seed);
  const { bytes } = wireOf(random, 'response');
  const method = random.pick(['GET', 'POST', 'HEAD', 'PUT']);
  const body = method === 'POST' || method === 'PUT' ? 'work' : undefined;
  lane.reset();
  lane.origin.answer = cutUp(bytes, cutsOf(random, bytes));
  const about = `to ${method}: ${JSON.stringify(bytes.toString('latin1'))}`;
  const client = await connectRaw(lane.port);
  try {
    const answer = await client.request(body === undefined ? { method } : { method, body });
    if (answer.fault !== undefined && answer.complete) return `the client gets ${answer.fault} ${about}`;
    const sends = lane.origin.seen.length;
    if (sends > (method === 'POST' ? 1 : 2)) return `${sends} sends ${about}`;
    if (!answer.complete || answer.value('connection') === 'close') return lane.difference();
    const next = await client.request({ target: '/next' });
    const isNext = next.status === 200 && next.text === 'next';
    if (!isNext && next.status !== 0)
      return `the next request gets ${next.status} ${JSON.stringify(next.text)} ${about}`;
    return lane.difference();
  } catch (error) {
    return `${String(error).slice(0, 500)} ${about}`;
  } finally {
    client.destroy();
  }
};
