import type { RouteConfig } from '../gateway-config.ts';
import type { Backends } from './backends.ts';
import { condition } from './condition.ts';
import type { HostPattern } from './hostnames.ts';
import { intersection, specificity } from './hostnames.ts';
import type { GatewayListener } from './listeners.ts';
import type { RankedMatch } from './precedence.ts';
import { inOrderOfPrecedence } from './precedence.ts';
import type { Report } from './read-spec.ts';
import { readSpec } from './read-spec.ts';
import type { Resource } from './resource.ts';
import type { RuleProblem } from './rule-matches.ts';
import type { Rule } from './rules.ts';
import { readRule } from './rules.ts';
import type { HttpRouteSpec, ParentRef } from './schema/http-route.ts';
import { httpRoute } from './schema/http-route.ts';
import type { Templates } from './templates.ts';

/** A route that stands at some listeners. */
interface AttachedRoute {
  readonly resource: Resource;
  readonly hostnames: readonly string[];
  readonly rules: readonly (readonly [number, Rule])[];
  readonly listeners: ReadonlySet<GatewayListener>;
}

/**
 * Every HTTPRoute as routes of the gateway, first match wins: by listener (the more specific host name of a port takes the
 * request, and no other gets it: listener isolation), then by the precedence of the Gateway API.
 */
export function readRoutes(
  resources: readonly Resource[],
  listeners: readonly GatewayListener[],
  backends: Backends,
  templates: Templates,
  report: Report,
): readonly RouteConfig[] {
  const attached = resources
    .filter(({ kind }) => kind === 'HTTPRoute')
    .flatMap((resource) => {
      const read = readSpec(resource, httpRoute, report);
      return read === undefined ? [] : [attach(resource, read.spec, listeners, backends, templates, report)];
    });
  return listeners
    .toSorted((a, b) => specificity(b.hostname) - specificity(a.hostname) || 0)
    .flatMap((listener) => routesAt(listener, attached).concat(nothingElse(listener, templates)));
}

function attach(
  resource: Resource,
  { parentRefs, hostnames, rules }: HttpRouteSpec['spec'],
  listeners: readonly GatewayListener[],
  backends: Backends,
  templates: Templates,
  report: Report,
): AttachedRoute {
  const before = report.conditions.length;
  const read = rules.map((spec, index) => readRule(spec, index, { route: resource, backends, templates, report }));
  const problems = read.flatMap(({ problem }, index) =>
    problem === undefined ? [] : [{ ...problem, path: ['spec', 'rules', index, ...problem.path] }],
  );
  const found = new Set<GatewayListener>();
  for (const [index, parent] of parentRefs.entries()) {
    const section = `parent ${parent.name}${parent.sectionName === undefined ? '' : `/${parent.sectionName}`}`;
    const outcome = listenersOf(resource, parent, hostnames, listeners);
    const [first] = problems;
    if (typeof outcome === 'string') {
      const [reason, message] = refusals[outcome];
      report.conditions.push(
        condition(resource, 'Accepted', 'False', reason, { section, path: ['spec', 'parentRefs', index], message }),
      );
    } else if (first !== undefined && problems.length === rules.length) {
      report.conditions.push(
        condition(resource, 'Accepted', 'False', first.reason, { section, path: first.path, message: first.message }),
      );
    } else {
      report.conditions.push(condition(resource, 'Accepted', 'True', 'Accepted', { section }));
    }
    if (typeof outcome !== 'string') for (const listener of outcome) found.add(listener);
  }
  if (parentRefs.length === 0)
    report.conditions.push(
      condition(resource, 'Accepted', 'False', 'NoMatchingParent', {
        path: ['spec'],
        message: 'has no parentRefs: it stands at no Gateway',
      }),
    );
  tellProblems(resource, problems, rules.length, read, report);
  if (!report.conditions.slice(before).some(({ type }) => type === 'ResolvedRefs'))
    report.conditions.push(condition(resource, 'ResolvedRefs', 'True', 'ResolvedRefs'));
  const usable = read.flatMap(({ rule }, index) => (rule === undefined ? [] : [[index, rule] as const]));
  return { resource, hostnames, rules: usable, listeners: found };
}

function tellProblems(
  resource: Resource,
  problems: readonly RuleProblem[],
  ruleCount: number,
  read: readonly { readonly rule: Rule | undefined }[],
  report: Report,
): void {
  for (const { path, reason, message } of problems) {
    const dropped = read[path[2] as number]?.rule === undefined;
    const text = `${dropped ? 'Dropped Rule: ' : ''}${message}${dropped ? '' : '; its requests get 500'}`;
    if (problems.length < ruleCount || problems.length > 1)
      report.conditions.push(condition(resource, 'PartiallyInvalid', 'True', reason, { path, message: text }));
  }
}

type Refusal = 'no-gateway' | 'no-parent' | 'not-allowed' | 'no-host';

const refusals: Readonly<Record<Refusal, readonly [reason: string, message: string]>> = {
  'no-gateway': ['NoMatchingParent', 'parents are Gateways of the folder'],
  'no-parent': ['NoMatchingParent', 'no listener that can be served has this Gateway, section name and port'],
  'not-allowed': ['NotAllowedByListeners', 'allowedRoutes of the listener does not take routes of this namespace'],
  'no-host': ['NoMatchingListenerHostname', 'no host name of the route lies within that of the listener'],
};

function listenersOf(
  resource: Resource,
  { group, kind, namespace = resource.namespace, name, sectionName, port }: ParentRef,
  hostnames: readonly string[],
  listeners: readonly GatewayListener[],
): readonly GatewayListener[] | Refusal {
  if (group !== 'gateway.networking.k8s.io' || kind !== 'Gateway') return 'no-gateway';
  const named = listeners.filter(
    ({ gateway, name: section, port: ownPort }) =>
      gateway.namespace === namespace &&
      gateway.name === name &&
      (sectionName === undefined || sectionName === section) &&
      (port === undefined || port === ownPort),
  );
  if (named.length === 0) return 'no-parent';
  const allowed = named.filter((listener) => listener.admits(resource.namespace));
  if (allowed.length === 0) return 'not-allowed';
  const matching = allowed.filter((listener) => hostsAt(listener, hostnames).length > 0);
  return matching.length === 0 ? 'no-host' : matching;
}

/** Each host name of a route with what is left of it at a listener. */
function hostsAt(
  listener: GatewayListener,
  hostnames: readonly string[],
): readonly { readonly own: HostPattern; readonly here: HostPattern }[] {
  return (hostnames.length === 0 ? [undefined] : hostnames).flatMap((own) => {
    const shared = intersection(own, listener.hostname);
    return shared === 'none' ? [] : [{ own, here: shared.host }];
  });
}

function routesAt(listener: GatewayListener, attached: readonly AttachedRoute[]): RouteConfig[] {
  const ranked: (RankedMatch & { readonly rule: Rule })[] = [];
  for (const { resource, hostnames, rules, listeners } of attached) {
    if (!listeners.has(listener)) continue;
    for (const [rank, hosts] of Map.groupBy(hostsAt(listener, hostnames), ({ own }) => specificity(own))) {
      // Host names of one rank never take the same request, so they can share a route.
      const here =
        rank === 0 && listener.hostname === undefined ? undefined : [...new Set(hosts.map((host) => host.here!))];
      for (const [position, rule] of rules) {
        for (const [index, match] of rule.matches.entries()) {
          const full = { ...match, hosts: here, listeners: listenerNames(listener) };
          ranked.push({ hostname: hosts[0]!.own, match: full, route: resource, position: [position, index], rule });
        }
      }
    }
  }
  return ranked.toSorted(inOrderOfPrecedence).map(({ rule, match }) => rule.at(match, listener.port));
}

/** What a listener takes and no route of it does is 404, and goes to no less specific listener. */
function nothingElse(listener: GatewayListener, { route }: Templates): RouteConfig {
  const { hostname, gateway, name } = listener;
  return {
    ...route,
    name: `${gateway.namespace}/${gateway.name}/${name}`,
    match: {
      listeners: listenerNames(listener),
      hosts: hostname === undefined ? undefined : [hostname],
      path: undefined,
      methods: undefined,
      fields: undefined,
    },
    targets: [],
    refusals: [{ weight: 1, status: 404, detail: 'No route of this gateway matches the request.' }],
  };
}

function listenerNames({ addresses }: GatewayListener): readonly string[] {
  return addresses.map(({ key }) => key);
}
