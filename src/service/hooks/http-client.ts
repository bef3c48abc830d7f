import type { ClientRequest, IncomingMessage } from 'node:http';
import { errorCode } from '../../core/failure-cause.ts';
import { isTlsCertificateCode, isTlsCode } from '../../transport/tls-error-codes.ts';
import { endWithAnswer, successEnding } from '../answer-ending.ts';
import { outboundFields } from '../outbound-fields.ts';
import { endingOfError, type CallSite } from '../outcome-of-error.ts';
import type { ServiceCall } from '../service-call.ts';
import type { Service } from '../service.ts';
import type { Guard } from './guard.ts';

const CALL = Symbol('mulligan.call');
const ATTEMPTED = Symbol('mulligan.attempted');

const BODY = Symbol('mulligan.body');

type Followed = IncomingMessage & {
  [BODY]?: {
    readonly service: Service;
    readonly guard: Guard;
    readonly call: ServiceCall;
    readonly request: ClientRequest;
  };
};

type Tracked = ClientRequest & { [CALL]?: ServiceCall; [ATTEMPTED]?: ServiceCall };

/** Each request that `node:http` and `node:https` send is a call of the request that is being answered. */
export function hookHttpClient(service: Service, guard: Guard): () => void {
  const stops = [
    guard.listen('http.client.request.created', ({ request }: { readonly request: Tracked }) => {
      const { attempted } = service;
      if (attempted !== undefined) {
        request[ATTEMPTED] = attempted;
        return;
      }
      const call = service.begin({ method: request.method, url: urlOf(request) });
      request[CALL] = call;
      if (request.headersSent) return;
      const own = call.deadlineAtMs < Infinity ? request.getHeader('request-timeout') : undefined;
      const fields = outboundFields(call, own === undefined ? undefined : String(own), service.nowMs());
      for (let i = 0; i < fields.length; i += 2) request.setHeader(fields[i]!, fields[i + 1]!);
    }),
    // Its name says finish; it is the head that has arrived.
    guard.listen(
      'http.client.response.finish',
      ({ request, response }: { readonly request: Tracked; readonly response: IncomingMessage }) => {
        const call = request[CALL];
        const attempted = request[ATTEMPTED];
        if (attempted !== undefined) attempted.peerAddress = response.socket?.remoteAddress;
        if (call === undefined) return;
        const status = response.statusCode ?? 200;
        if (status < 400) {
          call.end(successEnding(service.nowMs()));
          (response as Followed)[BODY] = { service, guard, call, request };
          response.on('close', bodyClosed);
          return;
        }
        call.caused(response);
        const address = response.socket?.remoteAddress;
        call.end(endWithAnswer(call, status, response.rawHeaders, mannerOf(request), address, service.nowMs()));
      },
    ),
    guard.listen(
      'http.client.request.error',
      ({ request, error }: { readonly request: Tracked; readonly error: unknown }) => {
        const call = request[CALL];
        if (call === undefined) return;
        call.caused(error);
        call.end(endingOfError(error, siteOf(request, error), service.nowMs()));
      },
    ),
  ];
  return () => stops.forEach((stop) => stop());
}

/** Where it goes, not what its Host field says: that may have come from anybody. */
function urlOf(request: ClientRequest): string {
  const field = request.getHeader('host');
  const colon = typeof field === 'string' ? field.lastIndexOf(':') : -1;
  const port = colon === -1 ? '' : portOf(field as string, colon);
  const host = request.host.includes(':') ? `[${request.host}]` : request.host;
  return `${request.protocol}//${host}${port}${request.path}`;
}

/** `:8080`; an IPv6 address in brackets has colons of its own. */
function portOf(field: string, colon: number): string {
  const port = field.slice(colon);
  return port.length <= 6 && !port.includes(']') ? port : '';
}

/** One function for all answers, as for the heads of our own: see `watchResponse`. */
function bodyClosed(this: Followed): void {
  const body = this[BODY];
  if (this.complete || body === undefined) return;
  body.guard.run('response.close', () => bodyEnded(body.service, body.call, body.request, this));
}

function bodyEnded(service: Service, call: ServiceCall, request: ClientRequest, response: IncomingMessage): void {
  // Whoever drops a body without an error has had enough of it.
  if (response.errored === null) return;
  call.caused(response.errored);
  const site = { ...mannerOf(request), sent: true, answered: true };
  call.restate(endingOfError(response.errored, site, service.nowMs()));
}

function siteOf(request: ClientRequest, error: unknown): CallSite {
  return { ...mannerOf(request), sent: request.socket !== null && !failedToConnect(error), answered: false };
}

function mannerOf(request: ClientRequest): Pick<CallSite, 'method' | 'keyed'> {
  return { method: request.method, keyed: request.hasHeader('idempotency-key') };
}

/** A socket counts what waits to be written as written, so that only the error says whether there was a connection. */
function failedToConnect(error: unknown): boolean {
  const syscall = typeof error === 'object' && error !== null && 'syscall' in error ? error.syscall : undefined;
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  const code = errorCode(error);
  return code === 'ECONNREFUSED' || isTlsCertificateCode(code) || isTlsCode(code);
}
