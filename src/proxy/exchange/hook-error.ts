import { because, failureIn, moreContext } from '../../core/explain.ts';
import type { Failure } from '../../core/failure.ts';
import type { ErrorResponse } from '../error-response.ts';
import { errorResponse, HttpStatusError, localResponse } from '../error-response.ts';
import type { HookName } from '../phases.ts';

/** What a hook threw is its `cause`, whatever that is; the name of the hook comes with it. Never leaves the proxy. */
export class HookError extends Error {
  readonly hook: HookName;

  constructor(hook: HookName, cause: unknown) {
    super(`${hook} failed`, { cause });
    this.name = 'HookError';
    this.hook = hook;
  }
}

/** What user code threw, as data. A failure that it made itself keeps its kind and its source. */
export function thrownFailure(error: unknown): Failure {
  if (!(error instanceof HookError)) return because('hook_error', '', error);
  const made = failureIn(error.cause);
  return made === undefined ? because('hook_error', error.hook, error.cause) : moreContext(made, error.hook);
}

/**
 * The answer when user code threw: the status of an `HttpStatusError`, that of a failure which it made itself, else 500.
 * Other messages stay in the log. Undefined: it says that the client is gone.
 */
export function thrownResponse(error: unknown): ErrorResponse | undefined {
  const thrown = error instanceof HookError ? error.cause : error;
  if (thrown instanceof HttpStatusError) {
    return { ...localResponse(thrown.status, thrown.message), token: 'http_request_denied' };
  }
  return errorResponse(thrownFailure(error), undefined);
}
