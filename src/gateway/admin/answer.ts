import { STATUS_CODES } from 'node:http';
import type { ServerResponse } from 'node:http';

/** Why a request got nothing, as an RFC 9457 problem. */
export interface Refusal {
  readonly status: number;
  readonly detail: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** On every answer: nothing is kept, framed, guessed at or sent along to other sites. */
export const SAFETY_FIELDS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

export function answerText(response: ServerResponse, status: number, type: string, text: string): void {
  const body = Buffer.from(text);
  response.writeHead(status, { ...SAFETY_FIELDS, 'Content-Type': type, 'Content-Length': body.length });
  response.end(body);
}

/** JSON for machines and people. What is infinite has no number in JSON: it is written `unlimited`. */
export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value, (_key, one: unknown) => (one === Infinity ? 'unlimited' : one), 2);
  answerText(response, status, 'application/json', `${text}\n`);
}

export function refuse(response: ServerResponse, { status, detail, fields }: Refusal): void {
  for (const [name, value] of Object.entries(fields ?? {})) response.setHeader(name, value);
  // What may still come of the request is not read: the connection goes.
  response.setHeader('Connection', 'close');
  const problem = { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail };
  answerText(response, status, 'application/problem+json', `${JSON.stringify(problem)}\n`);
}
