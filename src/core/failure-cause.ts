import { FailureError } from './failure-error.ts';
import type { Failure, FailureCause } from './failure.ts';

/** A chain of causes longer than this is cut: it comes from a loop or from a library that wraps without end. */
const maxDepth = 10;
/** A message may quote a whole response; a record may not. */
const maxMessageLength = 500;

/** The `code` of an error, of the first error in an aggregate without one, or its class name. */
export function errorCode(error: unknown): string {
  return ownCode(error) ?? ownCode(errorsOf(error)[0]) ?? className(error);
}

/**
 * Reduces whatever was thrown to what can be printed: code, message and cause, without stack, at most 10 links of 500
 * characters. Of an aggregate the first error is followed, and the message says how many there were. Never throws.
 */
export function failureCause(error: unknown): FailureCause {
  const links: FailureCause[] = [];
  const seen = new Set<unknown>();
  let rest: FailureCause | undefined;
  for (let link: unknown = error; link !== undefined && link !== null && links.length < maxDepth && !seen.has(link);) {
    seen.add(link);
    if (link instanceof FailureError) {
      rest = causeOfFailure(link.failure);
      break;
    }
    links.push({ code: errorCode(link), message: errorMessage(link) });
    link = property(link, 'cause') ?? errorsOf(link)[0];
  }
  const cause = links.reduceRight<FailureCause | undefined>(
    (below, link) => (below === undefined ? link : { ...link, cause: below }),
    rest,
  );
  return cause ?? { code: 'undefined', message: 'nothing was thrown' };
}

/** A failure as the reason below another one. */
export function causeOfFailure({ kind, source, context = '', cause }: Failure): FailureCause {
  const link = { code: kind, message: context, source };
  return cause === undefined ? link : { ...link, cause };
}

function ownCode(error: unknown): string | undefined {
  const code = property(error, 'code');
  return typeof code === 'string' && code !== '' ? code : undefined;
}

function className(error: unknown): string {
  const name = property(error, 'name');
  if (typeof name === 'string' && name !== '') return name;
  return typeof error;
}

function errorMessage(error: unknown): string {
  switch (typeof error) {
    case 'object':
    case 'function': {
      const message = property(error, 'message');
      if (typeof message === 'string' && message !== '') return message.slice(0, maxMessageLength);
      const count = errorsOf(error).length;
      return count > 1 ? `the first of ${String(count)} errors` : '';
    }
    case 'string':
      return error.slice(0, maxMessageLength);
    default:
      return String(error).slice(0, maxMessageLength);
  }
}

function errorsOf(error: unknown): readonly unknown[] {
  const errors = property(error, 'errors');
  return Array.isArray(errors) ? (errors as unknown[]) : [];
}

/** Anything can be thrown, also an object whose getters throw; describing a failure must not become another one. */
function property(value: unknown, name: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  try {
    return (value as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}
