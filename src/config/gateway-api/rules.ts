import type { DataPath } from '../fault.ts';
import type { RouteConfig, RouteMatch, RouteRetry, RouteTarget } from '../gateway-config.ts';
import { maxDurationMs } from '../quantity.ts';
import type { RouteFilters, RouteMirror, RouteRefusal } from '../route-filters.ts';
import type { Backends } from './backends.ts';
import { condition } from './condition.ts';
import type { Report } from './read-spec.ts';
import type { Resource } from './resource.ts';
import type { RuleFilters } from './rule-filters.ts';
import { readFilters } from './rule-filters.ts';
import type { RuleProblem } from './rule-matches.ts';
import { readMatch } from './rule-matches.ts';
import type { RuleSpec } from './schema/http-route.ts';
import type { Templates } from './templates.ts';

/** A rule ready to stand at any listener. */
export interface Rule {
  readonly matches: readonly RouteMatch[];
  /** @param port The port of the listener. */
  at(match: RouteMatch, port: number): RouteConfig;
}

interface RuleContext {
  readonly route: Resource;
  readonly backends: Backends;
  readonly templates: Templates;
  readonly report: Report;
}

const refuseAll = (status: 500 | 503, detail: string): RouteRefusal => ({ weight: 1, status, detail });
const brokenRule = 'The rule of this gateway that takes the request is not valid.';
const brokenBackend = 'The rule of this gateway that takes the request names a backend that cannot be used.';
const noBackend = 'The rule of this gateway that takes the request names no backend.';
const noEndpoint = 'The service that should answer has no endpoint that is ready.';

/** A rule, or why there is none: it is left out whole then, for to forget a part of a match would widen it. */
export function readRule(
  spec: RuleSpec,
  index: number,
  context: RuleContext,
): { readonly rule: Rule | undefined; readonly problem: RuleProblem | undefined } {
  const { route, templates } = context;
  const matches: RouteMatch[] = [];
  for (const [position, match] of spec.matches.entries()) {
    const outcome = readMatch(match, ['matches', position]);
    if (!outcome.ok) return { rule: undefined, problem: outcome.problem };
    matches.push(outcome.value);
  }
  const filters = readFilters(spec);
  const shares: Shares = filters.ok
    ? readShares(spec, index, filters.value, context)
    : { targets: [], refusals: [refuseAll(500, brokenRule)] };
  const base = {
    ...templates.route,
    name: `${route.namespace}/${route.name}/${spec.name ?? index}`,
    targets: shares.targets,
    ...(shares.refusals.length === 0 ? {} : { refusals: shares.refusals }),
    rewrite: filters.ok ? filters.value.rewrite : undefined,
    timeouts: timeoutsOf(spec, templates),
    retry: retryOf(spec, templates),
  };
  const mirrors = filters.ok ? readMirrors(filters.value, index, context) : [];
  return {
    rule: {
      matches,
      at(match, port) {
        const own = filters.ok ? filtersAt(filters.value, mirrors, port) : {};
        return { ...base, match, ...(Object.keys(own).length === 0 ? {} : { filters: own }) };
      },
    },
    problem: filters.ok ? undefined : filters.problem,
  };
}

interface Shares {
  readonly targets: readonly RouteTarget[];
  readonly refusals: readonly RouteRefusal[];
}

function readShares(spec: RuleSpec, index: number, filters: RuleFilters, context: RuleContext): Shares {
  if (filters.redirect !== undefined) return { targets: [], refusals: [] };
  const targets = new Map<string, number>();
  const refusals: RouteRefusal[] = [];
  for (const [position, reference] of spec.backendRefs.entries()) {
    const path = ['backendRefs', position];
    const { weight } = reference;
    const backend =
      reference.filters.length > 0
        ? ({
            type: 'invalid',
            reason: 'UnsupportedValue',
            message: 'filters of one backend are not supported: give them to the rule',
          } as const)
        : context.backends.resolve(context.route, reference);
    if (backend.type === 'upstream') {
      targets.set(backend.upstream, (targets.get(backend.upstream) ?? 0) + weight);
      continue;
    }
    tellReference(
      context,
      index,
      path,
      backend.type === 'invalid' ? backend.reason : 'NoReadyEndpoints',
      backend.message,
    );
    if (weight === 0) continue;
    refusals.push(
      backend.type === 'invalid'
        ? { weight, status: 500, detail: brokenBackend }
        : { weight, status: 503, detail: noEndpoint },
    );
  }
  const serving = [...targets].filter(([, weight]) => weight > 0).map(([upstream, weight]) => ({ upstream, weight }));
  if (serving.length === 0 && refusals.length === 0) return { targets: [], refusals: [refuseAll(500, noBackend)] };
  return { targets: serving, refusals };
}

function readMirrors({ mirrors }: RuleFilters, index: number, context: RuleContext): readonly RouteMirror[] {
  return mirrors.flatMap(({ backend: reference, share, path }) => {
    const backend = context.backends.resolve(context.route, reference, 'mirror');
    if (backend.type === 'upstream') return share === 0 ? [] : [{ upstream: backend.upstream, share }];
    // A copy that cannot be sent takes nothing from the request: it goes on without it.
    tellReference(
      context,
      index,
      path,
      backend.type === 'invalid' ? backend.reason : 'NoReadyEndpoints',
      backend.message,
    );
    return [];
  });
}

/** A Service without endpoints is no fault of the route: it is told, and its references count as resolved. */
function tellReference(
  { route, report }: RuleContext,
  rule: number,
  path: DataPath,
  reason: string,
  message: string,
): void {
  const at = { path: ['spec', 'rules', rule, ...path], message };
  if (reason !== 'NoReadyEndpoints') {
    report.conditions.push(condition(route, 'ResolvedRefs', 'False', reason, at));
    return;
  }
  report.faults.push({
    severity: 'warning',
    ...route.placeOf(at.path),
    path: '',
    message,
    hint: `HTTPRoute ${route.namespace}/${route.name}; such requests get 503`,
  });
}

function filtersAt(
  { requestFields, responseFields, redirect }: RuleFilters,
  mirrors: readonly RouteMirror[],
  port: number,
): RouteFilters {
  return {
    ...(requestFields === undefined ? {} : { requestFields }),
    ...(responseFields === undefined ? {} : { responseFields }),
    ...(redirect === undefined ? {} : { redirect: { ...redirect, port: redirect.port ?? port } }),
    ...(mirrors.length === 0 ? {} : { mirrors }),
  };
}

/** Left out: the gateway's defaults; a longer `backendRequest` alone makes room for itself. */
function timeoutsOf(
  { timeouts: { request, backendRequest } }: RuleSpec,
  { route }: Templates,
): RouteConfig['timeouts'] {
  const { requestMs, attemptMs } = route.timeouts;
  return {
    ...route.timeouts,
    requestMs: request ?? Math.max(requestMs, backendRequest ?? 0),
    attemptMs: backendRequest ?? attemptMs,
  };
}

/**
 * With a stanza, GEP-1731 says: failures before the request was sent and explicit rejections are retried, timeouts of one
 * backend request too, resets after it was sent are not. The configured backoff is the shortest wait: `equal` jitter
 * spreads over the upper half of a step, so a step is twice as long.
 */
function retryOf({ retry }: RuleSpec, { route }: Templates): RouteRetry {
  if (retry === undefined) return route.retry;
  const { codes, attempts, backoff } = retry;
  return {
    ...route.retry,
    maxRetries: attempts ?? route.retry.maxRetries,
    codes: [...new Set(codes)],
    on: ['unsent', 'rejected', 'stale', 'timeout'],
    backoff:
      backoff === undefined
        ? route.retry.backoff
        : {
            ...route.retry.backoff,
            baseMs: Math.min(2 * backoff, maxDurationMs),
            maxMs: Math.min(Math.max(route.retry.backoff.maxMs, 20 * backoff), maxDurationMs),
            jitter: 'equal',
          },
  };
}
