import type { Failure, FailureCause } from './failure.ts';

/**
 * One line for people: the failure and its causes, outermost first. A link leaves out what the link above it
 * already said, and an empty part is not printed at all.
 * `upstream connection_refused while connecting: connect to 127.0.0.1:9001: ECONNREFUSED`
 */
export function describeFailure(failure: Failure): string {
  const parts: string[] = [`${failure.source} ${failure.kind} ${PHASE_WORDS[failure.phase]}`];
  const said = new Set<string>([failure.kind]);
  push(parts, said, failure.context);
  let cause: FailureCause | undefined = failure.cause;
  // Ten links are more than any real chain has; the bound keeps a cyclic cause from printing for ever.
  for (let depth = 0; cause !== undefined && depth < 10; depth += 1) {
    push(parts, said, linkText(cause, said));
    cause = cause.cause;
  }
  return parts.join(': ');
}

const PHASE_WORDS: Record<Failure['phase'], string> = {
  select: 'while choosing an endpoint',
  connect: 'while connecting',
  tls: 'in the TLS handshake',
  send: 'while sending the request',
  wait: 'while waiting for the response',
  head: 'while reading the response head',
  body: 'while reading the response body',
};

function linkText(cause: FailureCause, said: ReadonlySet<string>): string {
  if (cause.code === '' || said.has(cause.code) || cause.message.includes(cause.code)) return cause.message;
  return cause.message === '' ? cause.code : `${cause.code} ${cause.message}`;
}

function push(parts: string[], said: Set<string>, text: string | undefined): void {
  if (text === undefined || text === '' || said.has(text)) return;
  if (parts.some((part) => part.includes(text))) return;
  said.add(text);
  parts.push(text);
}
