import { endWithAnswer, successEnding } from '../answer-ending.ts';
import { outboundFields } from '../outbound-fields.ts';
import { endingOfError } from '../outcome-of-error.ts';
import type { ServiceCall } from '../service-call.ts';
import type { Service } from '../service.ts';
import type { FieldList } from '../../http1/message.ts';
import type { Guard } from './guard.ts';

// On the request itself: a map of weak keys that live for a request each makes every collection of garbage slower.
const FLIGHT = Symbol('mulligan.flight');
const ATTEMPTED = Symbol('mulligan.attempted');

/** What undici tells of a request of its own; the built-in `fetch` is the same library. */
interface UndiciRequest {
  readonly method: string;
  readonly path: string;
  readonly origin: string | URL;
  readonly headers: unknown;
  addHeader(name: string, value: string): unknown;
  [FLIGHT]?: Flight;
  [ATTEMPTED]?: ServiceCall;
}

interface Flight {
  readonly call: ServiceCall;
  readonly manner: { readonly method: string; readonly keyed: boolean };
  socket: { readonly remoteAddress?: string | undefined } | undefined;
  answered: boolean;
  /** Where it waits for a connection. */
  readonly waiting: Set<Flight>;
}

/** Of more origins than this the ones that nothing waits for are forgotten. */
const MAX_ORIGIN_COUNT = 1000;

/** Each request of undici, be it the built-in one or a package, is a call of the request that is being answered. */
export function hookUndici(service: Service, guard: Guard): () => void {
  /** What waits for a connection, by origin: when that fails, not every version tells each request so. */
  const connecting = new Map<string, Set<Flight>>();
  const waitingFor = (origin: string): Set<Flight> => {
    const known = connecting.get(origin);
    if (known !== undefined) return known;
    if (connecting.size >= MAX_ORIGIN_COUNT) {
      for (const [name, waiting] of connecting) if (waiting.size === 0) connecting.delete(name);
    }
    const waiting = new Set<Flight>();
    connecting.set(origin, waiting);
    return waiting;
  };
  type Message = { readonly request: UndiciRequest };

  const stops = [
    guard.listen('undici:request:create', ({ request }: Message) => {
      const { attempted } = service;
      if (attempted !== undefined) {
        request[ATTEMPTED] = attempted;
        return;
      }
      const origin = originOf(request.origin);
      const { method } = request;
      const call = service.begin({ method, url: `${origin}${request.path}` });
      const manner = { method, keyed: headerOf(request.headers, 'idempotency-key') !== undefined };
      const waiting = waitingFor(origin);
      const flight: Flight = { call, manner, socket: undefined, answered: false, waiting };
      request[FLIGHT] = flight;
      waiting.add(flight);
      addFields(request, call, service.nowMs());
    }),
    guard.listen(
      'undici:client:sendHeaders',
      ({ request, socket }: Message & { readonly socket: Flight['socket'] }) => {
        const flight = request[FLIGHT];
        const attempted = request[ATTEMPTED];
        if (attempted !== undefined) attempted.peerAddress = socket?.remoteAddress;
        if (flight === undefined) return;
        flight.socket = socket;
        flight.waiting.delete(flight);
      },
    ),
    guard.listen(
      'undici:request:headers',
      ({
        request,
        response: { statusCode, headers },
      }: Message & { readonly response: { readonly statusCode: number; readonly headers: readonly unknown[] } }) => {
        const flight = request[FLIGHT];
        if (flight === undefined || statusCode < 200) return;
        flight.answered = true;
        flight.waiting.delete(flight);
        const { call, manner, socket } = flight;
        const nowMs = service.nowMs();
        call.restate(
          statusCode < 400
            ? successEnding(nowMs)
            : endWithAnswer(call, statusCode, headers.map(String), manner, socket?.remoteAddress, nowMs),
        );
      },
    ),
    guard.listen('undici:request:error', ({ request, error }: Message & { readonly error: unknown }) => {
      const flight = request[FLIGHT];
      if (flight === undefined) return brokeOff(service, request, error);
      flight.waiting.delete(flight);
      failed(service, flight, error);
    }),
    guard.listen(
      'undici:client:connectError',
      ({
        error,
        connectParams: { protocol, host },
      }: {
        readonly error: unknown;
        readonly connectParams: { readonly protocol: string; readonly host: string };
      }) => {
        // Another connection may still carry some of them: what comes then is stated anew. They are not kept for it, for
        // nobody would take out those that are never told of.
        const waiting = connecting.get(`${protocol}//${host}`);
        for (const flight of waiting ?? []) failed(service, flight, error);
        waiting?.clear();
      },
    ),
  ];
  return () => stops.forEach((stop) => stop());
}

function failed(service: Service, { call, manner, socket, answered }: Flight, error: unknown): void {
  call.caused(error);
  const ending = endingOfError(error, { ...manner, sent: socket !== undefined, answered }, service.nowMs());
  // The body of an error that nobody reads to its end changes nothing about the error.
  if (call.ending?.outcomeClass === 'ok') call.restate(ending);
  else call.end(ending);
}

/** Whoever retries around `fetch` knows no more once it has the head of a good answer. */
function brokeOff(service: Service, request: UndiciRequest, error: unknown): void {
  const call = request[ATTEMPTED];
  if (call?.ending?.outcomeClass !== 'ok') return;
  call.caused(error);
  const keyed = headerOf(request.headers, 'idempotency-key') !== undefined;
  const site = { method: request.method, keyed, sent: true, answered: true };
  call.restate(endingOfError(error, site, service.nowMs()));
}

function originOf(origin: string | URL): string {
  const text = String(origin);
  return text.endsWith('/') ? text.slice(0, -1) : text;
}

function addFields(request: UndiciRequest, call: ServiceCall, nowMs: number): void {
  const own = call.deadlineAtMs < Infinity ? headerOf(request.headers, 'request-timeout') : undefined;
  const fields: FieldList = outboundFields(call, own, nowMs);
  for (let i = 0; i < fields.length; i += 2) {
    if (!replaceHeader(request.headers, fields[i]!.toLowerCase(), fields[i + 1]!)) {
      request.addHeader(fields[i]!, fields[i + 1]!);
    }
  }
}

/** Version 6 and later keep a flat list; earlier ones wrote text, in which nothing is looked for. */
function headerOf(headers: unknown, lower: string): string | undefined {
  if (!Array.isArray(headers)) return undefined;
  const index = indexOf(headers, lower);
  return index === -1 ? undefined : String(headers[index + 1]);
}

function replaceHeader(headers: unknown, lower: string, value: string): boolean {
  if (!Array.isArray(headers)) return false;
  const index = indexOf(headers, lower);
  if (index !== -1) headers[index + 1] = value;
  return index !== -1;
}

function indexOf(headers: readonly unknown[], lower: string): number {
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i];
    if (typeof name === 'string' && name.length === lower.length && name.toLowerCase() === lower) return i;
  }
  return -1;
}
