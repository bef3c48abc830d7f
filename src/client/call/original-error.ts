import type { Failure } from '../../core/failure.ts';

/** What a library threw, beside the failure it was turned into: whoever asked gets the error that they know. */
const originals = new WeakMap<Failure, { readonly error: unknown }>();

export function rememberError(failure: Failure, error: unknown): void {
  originals.set(failure, { error });
}

/** `undefined` for a failure that no error was behind, such as a deadline. */
export function originalError(failure: Failure): { readonly error: unknown } | undefined {
  return originals.get(failure);
}
