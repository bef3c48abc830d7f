import { z } from 'zod';
import { defaults } from '../config/defaults.ts';
import { choice, count, duration, namePattern, note, positiveDuration } from '../config/schema-parts.ts';
import { callRules } from './call-rules.ts';
import { layers } from './hidden-layer.ts';
import type { TopologyFile } from './topology-file.ts';
import { work } from './work-time.ts';

const percent = (description: string): z.ZodNumber =>
  note(z.number().min(0).max(100), description, 'a number from 0 to 100, without a % sign');

const text = (description: string, hint: string): z.ZodString => note(z.string().min(1).max(200), description, hint);

const operationName = (description: string): z.ZodString =>
  text(description, 'service/operation, or the service alone when it has one operation');

const serviceTime = z.preprocess(
  (input) => (typeof input === 'string' ? { constant: input } : input),
  z.strictObject({
    constant: work('Always the same.').optional(),
    mean: work('Exponential with this mean.').optional(),
    p50: work('Lognormal: half take less than this.').optional(),
    p99: work('Lognormal: one in a hundred takes longer than this.').optional(),
  }),
);

const call = {
  ...callRules,
  to: operationName('What is called.').optional(),
  probability: note(z.number().min(0).max(1), 'How often the call is made, 0 to 1.', 'from 0 to 1').prefault(1),
  count: count('How often it is made, each time with its probability.', 1, 1000).prefault(1),
  failOpen: note(z.boolean(), 'The operation does without it when it fails.').prefault(false),
  layers,
};

const fromText = (input: unknown): unknown => (typeof input === 'string' ? { to: input } : input);

const step = z.preprocess(
  fromText,
  z.strictObject({
    ...call,
    parallel: note(
      z
        .array(z.preprocess(fromText, z.strictObject(call)))
        .min(1)
        .max(1000)
        .optional(),
      'Calls made at the same time; all of them end before the operation goes on.',
      'a list: [cart/get, { to: ads/list, failOpen: true }]',
    ),
  }),
);

const operation = z.strictObject({
  method: text('The method of its requests.', 'in capitals: GET').prefault('GET'),
  keyed: note(z.boolean(), 'Its requests carry an idempotency key.').prefault(false),
  serviceTime: note(
    serviceTime,
    'How long its own work takes, done before its calls: 5ms, { mean: 5ms } (exponential) or { p50: 4ms, p99: 20ms } (lognormal).',
    'for example 5ms, { mean: 5ms } or { p50: 4ms, p99: 20ms }',
  ),
  errorPercent: percent('Share of its requests that end with 500 after all its work.').prefault(0),
  calls: note(
    z.array(step).max(1000).prefault([]),
    'What it calls, one after the other. When a call fails for good, the rest is not done and it answers 502, or 504 when the call ran out of time.',
    'a list: [cart/get, { parallel: [ads/list, currency/list] }]',
  ),
});

const service = z.strictObject({
  ...callRules,
  participation: choice(
    '`cooperating`: takes part in ownership. `context-broken`: does not know which call belongs to which request. `legacy`: knows neither claims nor deadlines.',
    ['cooperating', 'context-broken', 'legacy'],
  ).prefault('cooperating'),
  instances: count('Servers, each with the capacity below.', 1, 10_000).prefault(1),
  capacity: note(
    z
      .strictObject({
        workers: count('Requests worked on at the same time by one instance.', 1, 1_000_000),
        queue: choice('Which of the waiting is next: the oldest or the newest.', ['fifo', 'lifo']).prefault('fifo'),
        queueLimit: count('How many may wait; one too many is answered 503. Left out: no limit.', 0, 1e9).optional(),
        blocking: note(z.boolean(), 'A worker is held while its request waits for calls.').prefault(false),
      })
      .optional(),
    'Left out: no limit, and nobody waits.',
    'for example { workers: 8, queueLimit: 100 }',
  ),
  operations: note(
    z.record(z.string().meta({ pattern: namePattern.source }), operation),
    'Operations by name.',
    'for example { get: { serviceTime: 5ms } }',
  ),
});

const root = z.strictObject({
  ...callRules,
  operation: operationName('Where the requests go.'),
  rate: note(z.number().min(0.001).max(1_000_000), 'Requests a second.', 'a number of requests a second'),
  arrivals: choice('At random, or evenly spaced.', ['poisson', 'constant']).prefault('poisson'),
  from: duration('When they begin.').prefault('0s'),
  until: duration('When they end. Left out: with the run.').optional(),
});

const fault = z.strictObject({
  at: duration('When it begins.').prefault('0s'),
  for: positiveDuration('How long it lasts. Left out: to the end of the run.').optional(),
  service: text('Where: a service …', 'the name of a service').optional(),
  operation: operationName('… or one of its operations.').optional(),
  instances: count('How many instances have it, always the same ones. Left out: all.', 1, 10_000).optional(),
  errorPercent: percent('That share is answered with `status`, after all the work.').optional(),
  status: count('The status of those errors.', 400, 599).prefault(500),
  outage: choice('Connections are refused, or requests are taken and never answered.', ['refused', 'hangs']).optional(),
  capacityPercent: percent('That share of the workers is left.').optional(),
  latency: note(
    z
      .strictObject({
        factor: note(z.number().min(0).max(100_000), 'Own work takes so many times as long.').prefault(1),
        loadPercent: note(
          z.number().min(0).max(10_000),
          'And so many percent longer for each other request that the instance works on: slower with load.',
        ).prefault(0),
        add: work('And so much longer.').prefault('0s'),
      })
      .optional(),
    'Own work takes longer.',
    'for example { factor: 4 }, { add: 100ms } or { loadPercent: 5 }',
  ),
});

/** The schema of a topology file. Its descriptions are its documentation. */
export const topologyFile: z.ZodType<TopologyFile> = z.strictObject({
  defaults: note(z.strictObject(callRules).prefault({}), 'For every call of a service that says nothing else.'),
  ownership: note(
    z
      .strictObject({
        mode: choice('`enforce`: claims are written and obeyed; `observe`: written; `off`: neither.', [
          'enforce',
          'observe',
          'off',
        ]).prefault('enforce'),
      })
      .prefault({}),
    'Who retries.',
    'write { mode: enforce }',
  ),
  retryOfRetry: note(z.boolean(), 'Whether a request that is itself a retry may be retried.').prefault(
    defaults.retryOfRetry,
  ),
  deadlines: note(
    z
      .strictObject({
        propagate: note(z.boolean(), 'Each hop tells the next how much time is left.').prefault(true),
        margin: duration('What it keeps of it for the way back.').prefault('10ms'),
        dropExpired: note(z.boolean(), 'What is known to be too late is not begun.').prefault(true),
      })
      .prefault({}),
    'Whether hops tell each other how much time is left.',
  ),
  services: note(
    z.record(z.string().meta({ pattern: namePattern.source }), service),
    'Services by name.',
    'for example { cart: { operations: { get: { serviceTime: 5ms } } } }',
  ),
  workload: note(
    z.strictObject({
      duration: positiveDuration('How much virtual time is simulated.').prefault('60s'),
      seed: count('The same seed gives the same result.', 0, Number.MAX_SAFE_INTEGER).prefault(1),
      roots: note(
        z.array(root).min(1).max(1000),
        'Where requests from outside go. Each client tries once, unless its `retry` says otherwise.',
        'a list: [{ operation: frontend/home, rate: 100 }]',
      ),
    }),
    'Requests from outside.',
    'for example { duration: 60s, roots: [{ operation: frontend/home, rate: 100 }] }',
  ),
  faults: note(
    z.array(fault).max(1000).prefault([]),
    'What goes wrong, and when.',
    'a list: [{ at: 20s, for: 10s, service: cart, errorPercent: 100 }]',
  ),
});
