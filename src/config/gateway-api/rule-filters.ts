import type { DataPath } from '../fault.ts';
import type { RouteRewrite } from '../gateway-config.ts';
import type { FieldChanges, PathChange, RouteMirror, RouteRedirect } from '../route-filters.ts';
import type { RuleProblem } from './rule-matches.ts';
import { readPath } from './rule-matches.ts';
import type {
  BackendObject,
  FieldChangeSpec,
  FilterSpec,
  MirrorSpec,
  PathModifier,
  RedirectSpec,
} from './schema/filter.ts';
import { filterFields } from './schema/filter.ts';
import type { RuleSpec } from './schema/http-route.ts';

/** The filters of a rule; a redirect without its port, which depends on the listener when the rule gives none. */
export interface RuleFilters {
  readonly requestFields?: FieldChanges;
  readonly responseFields?: FieldChanges;
  readonly redirect?: Omit<RouteRedirect, 'port'> & { readonly port: number | undefined };
  readonly rewrite?: RouteRewrite;
  readonly mirrors: readonly {
    readonly backend: BackendObject;
    readonly share: RouteMirror['share'];
    readonly path: DataPath;
  }[];
}

/** Fields that belong to a connection, to this gateway, or to the promise that a repeated request is recognised. */
const untouchable: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'error-claim',
  'expect',
  'host',
  'http2-settings',
  'idempotency-key',
  'keep-alive',
  'proxy-connection',
  'request-attempt',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

class Unusable extends Error {
  readonly problem: RuleProblem;

  constructor(path: DataPath, message: string, reason: RuleProblem['reason'] = 'UnsupportedValue') {
    super(message);
    this.problem = { path, reason, message };
  }
}

/** Requests of a rule whose filters cannot be applied must not pass without them: the caller answers them with an error. */
export function readFilters(
  rule: RuleSpec,
): { readonly ok: true; readonly value: RuleFilters } | { readonly ok: false; readonly problem: RuleProblem } {
  try {
    return { ok: true, value: read(rule) };
  } catch (error) {
    if (error instanceof Unusable) return { ok: false, problem: error.problem };
    throw error;
  }
}

function read(rule: RuleSpec): RuleFilters {
  const seen = new Set<string>();
  const mirrors: RuleFilters['mirrors'][number][] = [];
  const filters: { -readonly [Name in keyof Omit<RuleFilters, 'mirrors'>]: RuleFilters[Name] } = {};
  for (const [index, filter] of rule.filters.entries()) {
    const at = ['filters', index];
    const field = filterFields[filter.type];
    if (field === undefined) throw new Unusable([...at, 'type'], `filter ${filter.type} is not supported`);
    if (filter.type !== 'RequestMirror' && seen.has(filter.type))
      throw new Unusable(at, `filter ${filter.type} is there twice`, 'IncompatibleFilters');
    seen.add(filter.type);
    const { requestHeaderModifier, responseHeaderModifier, requestRedirect, urlRewrite, requestMirror } =
      filter as Required<FilterSpec>;
    const below = [...at, field];
    if (requestHeaderModifier !== undefined) filters.requestFields = fieldChanges(requestHeaderModifier, below);
    if (responseHeaderModifier !== undefined) filters.responseFields = fieldChanges(responseHeaderModifier, below);
    if (requestRedirect !== undefined) filters.redirect = redirectOf(requestRedirect, rule, below);
    if (urlRewrite !== undefined) filters.rewrite = rewriteOf(urlRewrite, rule, below);
    if (requestMirror !== undefined)
      mirrors.push({
        backend: requestMirror.backendRef,
        share: shareOf(requestMirror),
        path: [...below, 'backendRef'],
      });
  }
  if (seen.has('RequestRedirect')) {
    if (seen.has('URLRewrite'))
      throw new Unusable(['filters'], 'RequestRedirect and URLRewrite contradict each other', 'IncompatibleFilters');
    if (rule.backendRefs.length > 0)
      throw new Unusable(['backendRefs'], 'a rule that redirects has no backends', 'IncompatibleFilters');
  }
  return { ...filters, mirrors };
}

function fieldChanges({ set, add, remove }: FieldChangeSpec, at: DataPath): FieldChanges {
  const seen = new Set<string>();
  for (const [action, names] of Object.entries({
    set: set.map(({ name }) => name),
    add: add.map(({ name }) => name),
    remove,
  })) {
    for (const [index, name] of names.entries()) {
      const lower = name.toLowerCase();
      const path = [...at, action, index];
      if (untouchable.has(lower))
        throw new Unusable(path, `${name} must not be changed here${lower === 'host' ? ': use URLRewrite' : ''}`);
      if (seen.has(lower)) throw new Unusable(path, `${name} is changed twice`, 'IncompatibleFilters');
      seen.add(lower);
    }
  }
  return { set, add, remove: remove.map((name) => name.toLowerCase()) };
}

function redirectOf(
  { scheme, hostname, path, port, statusCode }: RedirectSpec,
  rule: RuleSpec,
  at: DataPath,
): NonNullable<RuleFilters['redirect']> {
  const wellKnown = scheme === undefined ? undefined : scheme === 'https' ? 443 : 80;
  return {
    scheme,
    host: hostname,
    port: port ?? wellKnown,
    path: path === undefined ? undefined : pathChange(path, rule, [...at, 'path']),
    status: statusCode,
  };
}

function rewriteOf(
  { hostname, path }: NonNullable<FilterSpec['urlRewrite']>,
  rule: RuleSpec,
  at: DataPath,
): RouteRewrite {
  const change = path === undefined ? undefined : pathChange(path, rule, [...at, 'path']);
  return {
    host: hostname === undefined ? undefined : { name: hostname },
    prefix: change?.kind === 'prefix' ? change.prefix : undefined,
    ...(change?.kind === 'full' ? { fullPath: change.path } : {}),
  };
}

function pathChange(
  { type, replaceFullPath = '', replacePrefixMatch = '' }: PathModifier,
  rule: RuleSpec,
  at: DataPath,
): PathChange {
  const full = type === 'ReplaceFullPath';
  const [only] = rule.matches;
  if (!full && (rule.matches.length !== 1 || only?.path.type !== 'PathPrefix'))
    throw new Unusable([...at, 'type'], 'ReplacePrefixMatch needs exactly one match, of type PathPrefix');
  const text = full ? replaceFullPath : replacePrefixMatch;
  const reading = readPath(text === '' ? '/' : text);
  if (!reading.ok)
    throw new Unusable(
      [...at, full ? 'replaceFullPath' : 'replacePrefixMatch'],
      reading.message.replace('can never match', 'is not a path'),
    );
  return full ? { kind: 'full', path: reading.path } : { kind: 'prefix', prefix: reading.path };
}

function shareOf({ percent, fraction }: MirrorSpec): number {
  if (percent !== undefined) return percent / 100;
  return fraction === undefined ? 1 : fraction.numerator / fraction.denominator;
}
