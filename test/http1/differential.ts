import { isDeepStrictEqual } from 'node:util';
import { readWithNode } from './node-reader.ts';
import { createRandom } from './random.ts';
import { readRequests, readResponses, type Reading } from './read-messages.ts';
import { randomWire } from './random-wire.ts';

export type WireKind = 'request' | 'response';

export interface Wire {
  readonly kind: WireKind;
  readonly bytes: Buffer;
  /** The method that a response answers. */
  readonly requestMethod: string;
}

export interface FuzzReport {
  caseCount: number;
  /** Messages that both parsers read to the end, and read the same. */
  agreedCount: number;
  refusedByBothCount: number;
  refusedByUsAloneCount: number;
  difference: { readonly words: string; readonly wire: Wire; readonly seed: number } | undefined;
}

/** Runs `caseCount` seeded cases; stops at the first difference and shrinks it. */
export function fuzz(caseCount: number, seed: number): FuzzReport {
  const report: FuzzReport = {
    caseCount: 0,
    agreedCount: 0,
    refusedByBothCount: 0,
    refusedByUsAloneCount: 0,
    difference: undefined,
  };
  for (let i = 0; i < caseCount && report.difference === undefined; i++) {
    const caseSeed = (seed + i) >>> 0;
    const random = createRandom(caseSeed);
    const wire = randomWire(random);
    const cuts = Array.from({ length: random.below(4) }, () => random.below(wire.bytes.length + 1)).sort(
      (a, b) => a - b,
    );
    const words = difference(wire, cuts, report);
    report.caseCount++;
    if (words === undefined) continue;
    const smallest = shrink(wire, (candidate) => difference(candidate, []) !== undefined);
    report.difference = { words: difference(smallest, []) ?? words, wire: smallest, seed: caseSeed };
  }
  return report;
}

/** How our reading and Node's, or ours whole and in pieces, differ in a way that matters; `undefined` when they do not. */
export function difference(wire: Wire, cuts: readonly number[], report?: FuzzReport): string | undefined {
  const ours = readWithOurs(wire, []);
  if (cuts.length > 0 && !isDeepStrictEqual(ours, readWithOurs(wire, cuts)))
    return `cut at ${cuts.join(', ')} it reads otherwise`;
  const node = readWithNode(wire.kind, wire.bytes, wire.requestMethod);
  if (report !== undefined) count(report, ours, node);
  for (const [index, message] of ours.messages.entries()) {
    const other = node.messages[index];
    if (other === undefined) return `message ${index} is accepted, Node refuses it (${node.faultCode || 'silently'})`;
    if (message.start !== other.start) return `message ${index} starts differently: ${message.start} | ${other.start}`;
    if (!isDeepStrictEqual(message.fields, other.fields)) return `message ${index} has other fields`;
    // Node's parser learns of HEAD only after it settled this, and without a length it expects the close.
    if (message.keepAlive && !other.keepAlive && wire.requestMethod !== 'HEAD')
      return `message ${index} keeps the connection, Node closes it`;
    // What follows an upgrade belongs to another protocol, and Node reads no body before it.
    if (index === node.upgradedAt) return undefined;
    if (message.complete) {
      if (!other.complete) return `message ${index} is complete, to Node it is not (${node.faultCode || 'open'})`;
      if (message.body !== other.body) return `message ${index} has another body`;
      if (!isDeepStrictEqual(message.trailers, other.trailers)) return `message ${index} has other trailers`;
    } else if (ours.outcome === 'open' && node.outcome === 'open') {
      if (other.complete) return `message ${index} is complete to Node only`;
      if (message.body !== other.body) return `message ${index} has another body so far`;
    }
  }
  if (ours.outcome === 'open' && node.messages.length > ours.messages.length) return 'Node reads one message more';
  return undefined;
}

export function readWithOurs(wire: Wire, cuts: readonly number[]): Reading {
  return wire.kind === 'request' ? readRequests(wire.bytes, cuts) : readResponses(wire.bytes, wire.requestMethod, cuts);
}

function count(report: FuzzReport, ours: Reading, node: Reading): void {
  report.agreedCount += ours.messages.filter((message) => message.complete).length;
  if (ours.outcome !== 'fault') return;
  if (node.outcome === 'fault') report.refusedByBothCount++;
  else report.refusedByUsAloneCount++;
}

/** Takes out ever smaller pieces while the difference stays. */
function shrink(wire: Wire, differs: (candidate: Wire) => boolean): Wire {
  let best = wire;
  for (let size = best.bytes.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at + size <= best.bytes.length;) {
      const candidate = { ...best, bytes: Buffer.concat([best.bytes.subarray(0, at), best.bytes.subarray(at + size)]) };
      if (differs(candidate)) best = candidate;
      else at += size;
    }
  }
  return best;
}
