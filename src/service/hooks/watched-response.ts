import type { ServerResponse } from 'node:http';
import { outcomeClassOfResponse } from '../../core/classify.ts';
import type { InboundRequest } from '../inbound-request.ts';
import type { Service } from '../service.ts';
import { CLAIM_NAMES, claimFields, withoutClaims } from './claim-fields.ts';
import type { Guard } from './guard.ts';

interface Watch {
  readonly service: Service;
  readonly guard: Guard;
  readonly inbound: InboundRequest;
  readonly writeHead: (...args: unknown[]) => ServerResponse;
}

const WATCH = Symbol('mulligan.watch');

type Watched = ServerResponse & { [WATCH]?: Watch; writeHead: (...args: never[]) => ServerResponse };

/** The request that is answered with this response, if somebody of ours has seen it already. */
export function inboundOf(response: ServerResponse): InboundRequest | undefined {
  return (response as Watched)[WATCH]?.inbound;
}

/** Sees how a request is answered, and adds the claim to an answer that is an error: also where no head is written by hand. */
export function watchResponse(service: Service, guard: Guard, response: ServerResponse, inbound: InboundRequest): void {
  const watched = response as Watched;
  watched[WATCH] = { service, guard, inbound, writeHead: response.writeHead as Watch['writeHead'] };
  watched.writeHead = writeHeadWithClaim;
}

/** One function for all responses: a closure each would cost more than all it does. */
function writeHeadWithClaim(this: Watched, ...args: unknown[]): ServerResponse {
  const { writeHead, guard } = this[WATCH]!;
  try {
    addClaim(this, this[WATCH]!, args);
  } catch (error) {
    guard.failed('response.writeHead', error);
  }
  return writeHead.apply(this, args);
}

function addClaim(response: Watched, { service, inbound }: Watch, args: unknown[]): void {
  const status = Number(args[0]);
  if (response.headersSent || !(status >= 200 && status <= 999)) return;
  for (const name of CLAIM_NAMES) if (response.hasHeader(name)) response.removeHeader(name);
  const last = args.length - 1;
  if (last > 0) args[last] = withoutClaims(args[last]);
  const claim = service.answer(inbound, outcomeClassOfResponse({ status }));
  if (claim === undefined) return;
  const fields = claimFields(claim, service.settings.alias);
  for (let i = 0; i < fields.length; i += 2) response.setHeader(fields[i]!, fields[i + 1]!);
}
