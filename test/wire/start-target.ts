import type { TestContext } from 'node:test';
import type { Clock } from '../../src/transport/clock.ts';
import type { FaultyAddress } from '../support/addresses.ts';
import { blackHoleAddress, refusedAddress } from '../support/addresses.ts';
import type { JournalRequest } from '../support/journal.ts';
import type { Wait } from '../support/origin-connection.ts';
import type { Behaviour } from '../support/origin-script.ts';
import { startHttp2Origin } from '../support/http2-origin.ts';
import { stepsFor } from '../support/origin-steps.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { startHttp2Target } from './http2-target.ts';
import type { OriginPlan, OriginWord, Wire } from './scenario.ts';
import type { Seen, Target } from './target.ts';
import { inOrder, unread, warmPath } from './target.ts';
import { startTlsTarget } from './tls-target.ts';

/** Delays of origins pass on the clock of their case. */
export function waitOn(clock: Clock): Wait {
  return (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const timer = clock.setTimer(ms, resolve);
      signal.addEventListener('abort', () => {
        timer.cancel();
        reject(signal.reason as Error);
      });
    });
}

/** One for all cases: it is a thread, and nothing ever reaches it. */
let blackHole: Promise<FaultyAddress> | undefined;

export async function releaseBlackHole(): Promise<void> {
  await (await blackHole)?.release();
}

export function startTarget(t: TestContext, plan: OriginPlan, wire: Wire, wait: Wait): Promise<Target> {
  switch (plan.kind) {
    case 'server':
      return wire === '2' ? startHttp2Target(plan, wait) : startHttp1Target(t, plan, wait);
    case 'refused':
      return unreachable(refusedAddress());
    case 'black-hole':
      blackHole ??= blackHoleAddress();
      return unreachable(blackHole.then(({ address }) => ({ address, release: () => Promise.resolve() })));
    case 'unroutable':
      // The limited broadcast: the system refuses to connect there, and nothing leaves the machine.
      return unreachable({ address: '255.255.255.255:9', release: () => Promise.resolve() });
    case 'mute':
      return startMuteTarget(t);
    case 'tls':
      return startTlsTarget(t, plan.certificate, wire, wait);
  }
}

interface Unreachable {
  readonly address: string;
  release(): Promise<void>;
}

async function unreachable(made: Unreachable | Promise<Unreachable>): Promise<Target> {
  const { address, release } = await made;
  return { address, seen: [], openCount: 0, openGate() {}, close: release };
}

/** Passed before the end of a case: a socket that is not read does not notice that the other side has left. */
const readOn = 'read on';

/** An origin that stopped reading goes on at the end of the case, so that it sees how its connection ended. */
function readable(word: Behaviour, request: JournalRequest): Behaviour {
  const steps = stepsFor(word, request, () => ({ do: 'respond' }));
  if (!steps.some(({ step }) => step === 'stop-reading')) return word;
  return { do: 'steps', steps: [...steps, { step: 'gate', name: readOn }, { step: 'resume-reading' }] };
}

function http1Word(word: OriginWord): Behaviour {
  switch (word.do) {
    case 'continue': {
      const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${String(word.body.length)}\r\n\r\n${word.body}`;
      return {
        do: 'steps',
        steps: [
          { step: 'until', point: 'head' },
          { step: 'send', bytes: 'HTTP/1.1 100 Continue\r\n\r\n' },
          { step: 'until', point: 'complete' },
          { step: 'send', bytes: answer },
          { step: 'answered' },
        ],
      };
    }
    case 'rst':
    case 'goaway':
      throw new Error(`an HTTP/1.1 origin cannot do ${word.do}`);
    default:
      return word;
  }
}

async function startMuteTarget(t: TestContext): Promise<Target> {
  const origin = await startHttp2Origin(
    t,
    (stream) => {
      if (stream.number === 1) stream.head(200, [], true);
    },
    { answersPings: false },
  );
  return {
    address: origin.key,
    get seen() {
      return origin.streams.slice(1).map((): Seen => unread);
    },
    get openCount() {
      return origin.openCount;
    },
    openGate() {},
    close: () => Promise.resolve(),
  };
}

async function startHttp1Target(
  t: TestContext,
  plan: Extract<OriginPlan, { kind: 'server' }>,
  wait: Wait,
): Promise<Target> {
  const next = inOrder(plan.says);
  const script = (request: JournalRequest): Behaviour =>
    request.target === warmPath
      ? { do: 'respond', then: plan.afterWarm ?? 'keep-alive' }
      : readable(http1Word(next()), request);
  const origin = await startOrigin({ connections: plan.connections ?? 'serve', requests: script }, { t, wait });
  const { journal } = origin;
  return {
    address: origin.address,
    get seen() {
      return journal.requests
        .filter(({ target }) => target !== warmPath)
        .map((request) => ({
          complete: request.complete,
          bodySha256: request.bodySha256,
          bodyBytes: request.bodyBytes,
          key: request.value('idempotency-key'),
          attempt: request.value('request-attempt'),
          trailers: request.trailers,
          isLeft: request.closedByClientAtMs !== undefined,
          fault: request.fault,
        }));
    },
    get openCount() {
      return journal.connections.filter(
        (one) => (one.finByClientAtMs ?? one.resetByClientAtMs ?? one.closedAtMs) === undefined,
      ).length;
    },
    openGate: (name) => origin.open(name),
    readOn: () => origin.open(readOn),
    close: () => origin.close(),
  };
}
