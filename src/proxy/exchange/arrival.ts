import { explain } from '../../core/explain.ts';
import type { Failure } from '../../core/failure.ts';
import type { FieldList } from '../../http1/message.ts';
import type { ErrorResponse } from '../error-response.ts';
import { localResponse, loopResponse } from '../error-response.ts';
import { forbiddenNomination, isLooping } from '../headers.ts';
import { lastRecipient, maxForwards } from './max-forwards.ts';
import type { LocalAnswer, ProxyRequest } from '../phases.ts';

/** What becomes of a request that no hook is asked about. */
export type Arrival =
  | { readonly type: 'refused'; readonly answer: ErrorResponse; readonly fault?: Failure }
  | { readonly type: 'answered'; readonly answer: LocalAnswer };

/** What HTTP itself says of a request that was read whole; undefined: it may go on. */
export function arrivalOf(request: ProxyRequest, pseudonym: string): Arrival | undefined {
  const fields = request.fields as FieldList;
  const nominated = forbiddenNomination(fields);
  if (nominated !== undefined) return refused(`Connection must not nominate the end-to-end field ${nominated}.`);
  if (isLooping(fields, pseudonym)) {
    const what = 'this proxy sent the request to itself; an upstream leads to one of its own listeners';
    return { type: 'refused', answer: loopResponse(), fault: explain('proxy_loop_detected', what) };
  }
  const hops = maxForwards(request.method, fields);
  if (hops === 0) return { type: 'answered', answer: lastRecipient(request.method) };
  return Number.isNaN(hops) ? refused('Max-Forwards must be one whole number.') : undefined;
}

function refused(detail: string): Arrival {
  return { type: 'refused', answer: localResponse(400, detail) };
}
