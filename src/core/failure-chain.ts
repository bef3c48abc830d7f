import type { Failure, FailureCause, FailureSource } from './failure.ts';

/**
 * One line for people: the failure and its causes, outermost first. A link leaves out what the links above it
 * already said, and an empty part is not printed at all.
 * `upstream connection_refused while connecting: connect to 127.0.0.1:9001: ECONNREFUSED`
 */
export function describeFailure(failure: Failure): string {
  const { source, kind, phase, context, cause } = failure;
  const where = kind === 'hook_error' ? 'in user code' : PHASE_WORDS[phase];
  const line = new Line(`${source} ${kind} ${where}`, source, kind);
  line.say(context);
  let link: FailureCause | undefined = cause;
  // Ten links are more than any real chain has; the bound keeps a cyclic cause from printing for ever.
  for (let depth = 0; link !== undefined && depth < 10; depth += 1) {
    line.sayCause(link);
    link = link.cause;
  }
  return line.text;
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

/** Codes that say only that something was thrown. */
const EMPTY_CODES: ReadonlySet<string> = new Set(['', 'Error', 'string', 'number', 'boolean', 'object']);

/** Control characters, line breaks of Unicode included: user text must not end a line of the log, or begin one. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

class Line {
  readonly #parts: string[];
  readonly #codes: Set<string>;
  #source: FailureSource;

  constructor(start: string, source: FailureSource, kind: string) {
    this.#parts = [start];
    this.#codes = new Set([kind]);
    this.#source = source;
  }

  get text(): string {
    return this.#parts.join(': ');
  }

  say(words: string | undefined): void {
    let text = words?.replaceAll(CONTROLS, ' ').trim() ?? '';
    const above = this.#parts.at(-1)!;
    // Many libraries put the message of the error outside in front of that of the one inside.
    if (text.startsWith(`${above}: `)) text = text.slice(above.length + 2);
    if (text !== '' && !this.#parts.some((part) => part.includes(text))) this.#parts.push(text);
  }

  sayCause({ code, message, source }: FailureCause): void {
    const words: string[] = [];
    if (source !== undefined && source !== this.#source) words.push((this.#source = source));
    if (!EMPTY_CODES.has(code) && !this.#codes.has(code) && !message.includes(code)) words.push(code);
    this.#codes.add(code);
    if (message !== '') words.push(message);
    this.say(words.join(' '));
  }
}
