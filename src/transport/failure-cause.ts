import type { FailureCause } from '../core/failure.ts';

/** A chain of causes longer than this is cut: it comes from a loop or from a library that wraps without end. */
const maxDepth = 10;
/** A message may quote a whole response; a record may not. */
const maxMessageLength = 500;

/** The `code` of an error, of the first error in an aggregate without one, or its class name. */
export function errorCode(error: unknown): string {
  return ownCode(error) ?? ownCode(firstOfAggregate(error)) ?? className(error);
}

/** Reduces whatever was thrown to what can be printed: code, message and cause, without stack, at most 10 links. */
export function failureCause(error: unknown): FailureCause {
  const links: { code: string; message: string }[] = [];
  const seen = new Set<unknown>();
  for (let link: unknown = error; link !== undefined && link !== null && links.length < maxDepth && !seen.has(link);) {
    seen.add(link);
    links.push({ code: errorCode(link), message: errorMessage(link) });
    link = property(link, 'cause') ?? firstOfAggregate(link);
  }
  let cause: FailureCause | undefined;
  for (const link of links.reverse()) cause = cause === undefined ? link : { ...link, cause };
  return cause ?? { code: 'undefined', message: 'nothing was thrown' };
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
      return typeof message === 'string' ? message.slice(0, maxMessageLength) : '';
    }
    case 'string':
      return error.slice(0, maxMessageLength);
    default:
      return String(error);
  }
}

function firstOfAggregate(error: unknown): unknown {
  const errors = property(error, 'errors');
  return Array.isArray(errors) ? (errors as unknown[])[0] : undefined;
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
