/**
 * What the retry layer costs: one decision and the other things core does for a request, in nanoseconds.
 * The bar: one decision below 500 ns. `node bench/core.ts --check` exits with 1 above it.
 */
import { parseArgs } from 'node:util';
import type { Failure } from '../src/core/failure.ts';
import type { EndpointView } from '../src/core/load-balancing.ts';
import { pickEndpoint } from '../src/core/pick-endpoint.ts';
import { DEFAULT_RETRY_POLICY } from '../src/core/presets/default.ts';
import type { Circumstances, RequestFacts } from '../src/core/request.ts';
import { createRequestSession } from '../src/core/request-session.ts';
import { parseRetryAfter } from '../src/core/retry-after.ts';
import { createRetryBudget } from '../src/core/retry-budget.ts';
import { createRetryPolicy } from '../src/core/retry-policy.ts';
import { decide, type DecisionInput } from '../src/core/decide.ts';

const BAR_NS = 500;
const WARM_UP_ROUNDS = 5;
const ROUNDS = 11;
const CALLS = 100_000;

const request: RequestFacts = { method: 'GET', keyed: false, lineage: 0, deadlineAtMs: 1e9 };
const clear: Circumstances = {
  bodyReplayable: true,
  committed: false,
  downstreamGone: false,
  endpointAvailable: true,
  otherEndpointAvailable: true,
  permitAvailable: true,
};
const refused: Failure = {
  kind: 'connection_refused',
  source: 'upstream',
  phase: 'connect',
  reused: false,
  bytesSent: 0,
  bytesReceived: 0,
};
const policy = createRetryPolicy({ maxRetries: 3, codes: [500, 502, 503, 504], on: ['unsent', 'stale', 'reset'] });
const common: Omit<DecisionInput, 'outcome' | 'nowMs' | 'random'> = {
  request,
  policy,
  at: clear,
  countedRetryCount: 1,
  freeResendUsed: false,
  previousDelayMs: 0,
  budgetAvailable: true,
  coverAnyway: false,
};
const success = { type: 'response', response: { status: 200 } } as const;
const unavailable = { type: 'response', response: { status: 503 } } as const;
const notFound = { type: 'response', response: { status: 404 } } as const;
const failure = { type: 'failure', failure: refused } as const;
const mixed = [success, success, unavailable, success, notFound, success, failure, success] as const;

const ratio = createRetryBudget();
const bucket = createRetryBudget({ kind: 'token-bucket' });
const endpoints: EndpointView[] = Array.from({ length: 4 }, (_, index) => ({
  weight: 1,
  priority: 0,
  hash: index,
  inflight: index,
  available: true,
  excluded: false,
}));

interface Case {
  readonly name: string;
  /** Held against the bar. */
  readonly isDecision: boolean;
  /** One call; what it returns is kept from being optimised away. */
  readonly call: (index: number) => unknown;
}

const cases: readonly Case[] = [
  { name: 'decide: success', isDecision: true, call: (index) => decideOn(success, index) },
  { name: 'decide: retry a 503', isDecision: true, call: (index) => decideOn(unavailable, index) },
  { name: 'decide: retry a refused connection', isDecision: true, call: (index) => decideOn(failure, index) },
  { name: 'decide: mixed outcomes', isDecision: true, call: (index) => decideOn(mixed[index % 8] ?? success, index) },
  { name: 'session: a request that succeeds', isDecision: true, call: succeed },
  { name: 'session: retried once, then a success', isDecision: false, call: retryOnce },
  { name: 'budget: ratio, deposit', isDecision: false, call: (index) => ratio.deposit(index / 100) },
  { name: 'budget: ratio, withdraw', isDecision: false, call: (index) => ratio.withdraw(index / 100) },
  { name: 'budget: token bucket, deposit and withdraw', isDecision: false, call: drawFromBucket },
  { name: 'pick: least request of four', isDecision: false, call: pick },
  { name: 'Retry-After: seconds', isDecision: false, call: () => parseRetryAfter('120', undefined, 0) },
  {
    name: 'Retry-After: a date',
    isDecision: false,
    call: () => parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', 'Sun, 06 Nov 1994 08:49:30 GMT', 0),
  },
];

function decideOn(outcome: DecisionInput['outcome'], index: number): unknown {
  return decide({ ...common, outcome, nowMs: index, random: 0.5 });
}

function succeed(index: number): unknown {
  const session = createRequestSession(request, DEFAULT_RETRY_POLICY, ratio);
  session.start(index / 100);
  session.attemptStarted();
  return session.responded(success.response, clear, index / 100, 0.5);
}

function retryOnce(index: number): unknown {
  const session = createRequestSession(request, DEFAULT_RETRY_POLICY, bucket);
  session.start(index / 100);
  session.attemptStarted();
  session.failed(refused, clear, index / 100, 0.5);
  session.attemptStarted();
  return session.responded(success.response, clear, index / 100, 0.5);
}

function drawFromBucket(index: number): unknown {
  bucket.deposit(index / 100);
  return bucket.withdraw(index / 100);
}

function pick(index: number): unknown {
  return pickEndpoint(endpoints, {
    loadBalancing: 'least-request',
    tried: [],
    random: (index % 1000) / 1000,
    cursor: 0,
    keyHash: 0,
  });
}

/** Median over the rounds after warming up. CPU time, not wall time, so that a busy machine does not count against us. */
function measureNs({ call }: Case): number {
  let kept: unknown;
  const times: number[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    const before = process.cpuUsage();
    for (let index = 0; index < CALLS; index += 1) kept = call(index);
    const spent = process.cpuUsage(before);
    if (round >= WARM_UP_ROUNDS) times.push(((spent.user + spent.system) * 1000) / CALLS);
  }
  if (kept === cases) throw new Error('keeps the last result alive, so that no call is optimised away');
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? NaN;
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
let slowest = 0;
console.log(`node ${process.version}, ${String(CALLS)} calls a round, median CPU time of ${String(ROUNDS)} rounds\n`);
console.log(`${'what'.padEnd(46)}${'ns'.padStart(8)}`);
for (const candidate of cases) {
  const medianNs = measureNs(candidate);
  if (candidate.isDecision) slowest = Math.max(slowest, medianNs);
  console.log(`${candidate.name.padEnd(46)}${medianNs.toFixed(1).padStart(8)}`);
}
const held = slowest < BAR_NS;
console.log(`\nslowest decision ${slowest.toFixed(0)} ns, bar ${String(BAR_NS)} ns: ${held ? 'held' : 'broken'}`);
if (values.check && !held) process.exitCode = 1;
