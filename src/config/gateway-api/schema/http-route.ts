import { z } from 'zod';
import type { BackendRef, FilterSpec } from './filter.ts';
import { backendRef, filter } from './filter.ts';
import {
  fieldName,
  fieldValue,
  gatewayDuration,
  hostName,
  ignoredField,
  objectName,
  port,
  resourceSchema,
} from './parts.ts';

export interface ParentRef {
  group: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  sectionName?: string | undefined;
  port?: number | undefined;
}

type MatchKind = 'Exact' | 'RegularExpression';

export interface MatchSpec {
  path: { type: 'Exact' | 'PathPrefix' | 'RegularExpression'; value: string };
  headers: { type: MatchKind; name: string; value: string }[];
  queryParams: { type: MatchKind; name: string; value: string }[];
  method?: string | undefined;
}

export interface RuleSpec {
  name?: string | undefined;
  matches: MatchSpec[];
  filters: FilterSpec[];
  backendRefs: BackendRef[];
  timeouts: { request?: number | undefined; backendRequest?: number | undefined };
  retry?: { codes: number[]; attempts?: number | undefined; backoff?: number | undefined } | undefined;
}

export interface HttpRouteSpec {
  spec: { parentRefs: ParentRef[]; hostnames: string[]; rules: RuleSpec[] };
}

const kindOfMatch = z.enum(['Exact', 'RegularExpression']).prefault('Exact');
const fieldMatch = z.strictObject({ type: kindOfMatch, name: fieldName, value: fieldValue });
const paramMatch = z.strictObject({
  type: kindOfMatch,
  name: z.string().min(1).max(256),
  value: z.string().min(1).max(1024),
});

const match = z.strictObject({
  path: z
    .strictObject({
      type: z.enum(['Exact', 'PathPrefix', 'RegularExpression']).prefault('PathPrefix'),
      value: z.string().max(1024).prefault('/'),
    })
    .prefault({}),
  headers: z.array(fieldMatch).max(16).prefault([]),
  queryParams: z.array(paramMatch).max(16).prefault([]),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY']).optional(),
});

const timeouts = z
  .strictObject({ request: gatewayDuration.optional(), backendRequest: gatewayDuration.optional() })
  .superRefine(({ request, backendRequest }, context) => {
    if (request === undefined || request === 0 || backendRequest === undefined || backendRequest <= request) return;
    context.addIssue({
      code: 'custom',
      path: ['backendRequest'],
      message: 'is longer than timeouts.request, which bounds it',
      params: { hint: 'make it at most as long' },
    });
  });

const retry = z.strictObject({
  codes: z.array(z.int().min(400).max(599)).prefault([]),
  // GEP-1731: sends beyond the first; an explicit 0 switches retries off. The ceiling is ours.
  attempts: z.int().min(0).max(1000).optional(),
  backoff: gatewayDuration.optional(),
});

const rule = z.strictObject({
  name: objectName('The name of the rule.').optional(),
  matches: z
    .array(match)
    .max(64)
    .transform((matches) => (matches.length === 0 ? [everything] : matches))
    .prefault([{}]),
  filters: z.array(filter).max(16).prefault([]),
  backendRefs: z.array(backendRef).max(16).prefault([]),
  timeouts: timeouts.prefault({}),
  retry: retry.optional(),
  sessionPersistence: ignoredField('requests are not bound to an endpoint'),
});

const everything: MatchSpec = { path: { type: 'PathPrefix', value: '/' }, headers: [], queryParams: [] };

const parentRef = z.strictObject({
  group: z.string().prefault('gateway.networking.k8s.io'),
  kind: z.string().prefault('Gateway'),
  namespace: z.string().optional(),
  name: z.string().min(1),
  sectionName: z.string().optional(),
  port: port.optional(),
});

export const httpRoute: z.ZodType<HttpRouteSpec> = resourceSchema(
  z.strictObject({
    parentRefs: z.array(parentRef).max(32).prefault([]),
    hostnames: z.array(hostName(true)).max(16).prefault([]),
    rules: z.array(rule).max(16).prefault([{}]),
    useDefaultGateways: ignoredField('name the Gateway in parentRefs'),
  }),
);
