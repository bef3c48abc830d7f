import type { RouteConfig } from '../config/gateway-config.ts';
import type { RouteRefusal } from '../config/route-filters.ts';
import type { ResponseFlag } from '../proxy/access-record.ts';
import { localResponse, renderErrorResponse } from '../proxy/error-response.ts';
import type { OwnershipRules } from '../proxy/ownership-rules.ts';
import type { LocalAnswer, ProxyRequest } from '../proxy/phases.ts';
import { changedFields } from './filters/field-changes.ts';
import { redirectAnswer } from './filters/redirect.ts';

/** What a route answers by itself; no upstream is asked. */
export interface RouteAnswer {
  readonly routeName: string;
  /** With whom an error among them takes part. */
  readonly ownership: OwnershipRules | undefined;
  /** @param path Canonical path and query. */
  answer(request: ProxyRequest, path: string): LocalAnswer;
}

/** The route's own answers, each with its share of the requests. @param targetWeight Of all its targets together. */
export function routeAnswers(
  { name, match, refusals = [], filters }: RouteConfig,
  targetWeight: number,
  ownership: OwnershipRules | undefined,
): readonly { readonly target: RouteAnswer; readonly weight: number }[] {
  const redirect = filters?.redirect;
  if (redirect === undefined)
    return refusals.map((refusal) => ({
      weight: refusal.weight,
      target: { routeName: name, ownership, answer: refuses(refusal) },
    }));
  const prefix = match.path?.kind === 'prefix' ? match.path.value : '/';
  const changes = filters?.responseFields;
  const answer: RouteAnswer['answer'] = (request, path) => {
    const redirected = redirectAnswer(request, path, redirect, prefix);
    return changes === undefined ? redirected : { ...redirected, fields: changedFields(redirected.fields, changes) };
  };
  return [{ weight: Math.max(1, targetWeight), target: { routeName: name, ownership, answer } }];
}

/** An answer that this gateway makes because it cannot, or may not, ask an upstream. */
export function localAnswer(status: number, detail: string): LocalAnswer {
  const { fields, body } = renderErrorResponse(localResponse(status, detail), { attempts: 0 });
  return { status, fields, body };
}

const REFUSAL_FLAGS: Readonly<Partial<Record<number, ResponseFlag>>> = { 404: 'NR', 500: 'IB', 503: 'UH' };

function refuses({ status, detail }: RouteRefusal): RouteAnswer['answer'] {
  const flag = REFUSAL_FLAGS[status];
  return () => ({ ...localAnswer(status, detail), flag });
}
