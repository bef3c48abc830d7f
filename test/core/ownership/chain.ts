import { attribute, type ServiceAnswer } from '../../../src/core/ownership/attribute.ts';
import type { Participation } from '../../../src/core/ownership/call-graph.ts';
import { withClaim } from '../../../src/core/ownership/claimed-facts.ts';
import type { ErrorClaim } from '../../../src/core/ownership/error-claim.ts';
import { outboundEnding } from '../../../src/core/ownership/outbound-ending.ts';
import type { Outcome, ResponseFacts } from '../../../src/core/outcome.ts';
import { createRequestSession } from '../../../src/core/request-session.ts';
import { createRetryBudget, type RetryBudget } from '../../../src/core/retry-budget.ts';
import { createRetryPolicy, type RetryPolicy } from '../../../src/core/retry-policy.ts';
import { CLEAR, GET } from '../fixtures.ts';

export const NO_BUDGET: RetryBudget = createRetryBudget({ kind: 'none' });

export const PLAIN_ANSWER: ServiceAnswer = {
  outcomeClass: 'server',
  atMs: 0,
  committed: false,
  deadlinePassed: false,
  keyed: false,
  blameUnknown: true,
  own: undefined,
};

export interface ChainOptions {
  /** The services, from the root to the last one. */
  readonly services: readonly Participation[];
  /** Which edges have a policy of one retry; the edge of index i leads from service i to the next. Default all. */
  readonly policies?: readonly boolean[];
  readonly maxRetries?: number;
  readonly budgets?: readonly RetryBudget[];
  /** Whether a caller tells its callee that it is a retry. Default false, and then nobody limits retries of retries. */
  readonly lineage?: boolean;
  /** Whether this call of this service fails by itself. Default: each call of the last one. */
  readonly fails?: (service: number, call: number) => boolean;
}

export interface Chain {
  /** Requests each service got, the root first. */
  readonly served: number[];
  /** Retries each edge made. */
  readonly retries: number[];
  /** Sends one request through the chain; true when the root answers it well. */
  request(nowMs?: number): boolean;
}

interface Answer {
  readonly ok: boolean;
  readonly claim: ErrorClaim | undefined;
}

const COVERING: Readonly<Record<'enforce' | 'off', (maxRetries: number) => RetryPolicy>> = {
  enforce: (maxRetries) => policyOf(maxRetries, [503], 'enforce'),
  off: (maxRetries) => policyOf(maxRetries, [503], 'off'),
};
const policies = new Map<string, RetryPolicy>();

function policyOf(maxRetries: number, codes: number[], ownership: 'enforce' | 'off'): RetryPolicy {
  const key = `${String(maxRetries)} ${codes.join()} ${ownership}`;
  const known = policies.get(key) ?? createRetryPolicy({ maxRetries, codes, ownership, jitter: 'none', backoffMs: 0 });
  policies.set(key, known);
  return known;
}

/** Services that call one another in a row, on core's own decisions and attribution, with no time passing. */
export function createChain(options: ChainOptions): Chain {
  const { services, budgets, maxRetries = 1, lineage = false } = options;
  const last = services.length - 1;
  const fails = options.fails ?? ((service: number): boolean => service === last);
  const served = services.map(() => 0);
  const retries = services.slice(1).map(() => 0);

  function answerOf(index: number, ending: ReturnType<typeof outboundEnding> | undefined): Answer {
    if (services[index] === 'legacy') return { ok: false, claim: undefined };
    // Where the context is lost, the call that failed is not known to belong to the request.
    const seen = services[index] === 'cooperating' ? ending : undefined;
    const outbounds =
      seen === undefined
        ? []
        : [
            {
              operation: String(index + 1),
              edge: 'fail-closed' as const,
              startedAtMs: 0,
              ending: seen,
              covered: false,
              causal: false,
            },
          ];
    return { ok: false, claim: attribute({ ...PLAIN_ANSWER, atMs: Infinity }, outbounds)?.claim };
  }

  function serve(index: number, level: number, nowMs: number): Answer {
    const call = served[index]!;
    served[index] = call + 1;
    if (fails(index, call)) return answerOf(index, undefined);
    if (index === last) return { ok: true, claim: undefined };
    const mode = services[index] === 'legacy' ? 'off' : 'enforce';
    const covered = options.policies?.[index] ?? true;
    const policy = covered ? COVERING[mode](maxRetries) : policyOf(1, [], mode);
    const facts = { ...GET, lineage: lineage ? level : 0 };
    const session = createRequestSession(facts, policy, budgets?.[index] ?? NO_BUDGET);
    session.start(nowMs);
    for (;;) {
      const attempt = session.attemptStarted();
      const below = serve(index + 1, level + attempt - 1, nowMs);
      const response: ResponseFacts = withClaim({ status: below.ok ? 200 : 503 }, below.claim, mode);
      const decision = session.responded(response, CLEAR, nowMs, 0);
      if (decision.type === 'retry') {
        retries[index]! += 1;
        continue;
      }
      if (decision.reason === 'success') return { ok: true, claim: undefined };
      const outcome: Outcome = { type: 'response', response };
      return answerOf(index, outboundEnding(session, outcome, below.claim, nowMs));
    }
  }

  return { served, retries, request: (nowMs = 0) => serve(0, 0, nowMs).ok };
}
