import { callsNamedBy } from './cause-chain.ts';
import { isOwnershipFailure } from '../core/ownership/outbound.ts';
import type { ServiceCall } from './service-call.ts';
import { installedService } from './install.ts';

/**
 * Makes calls that the service can do without: it answers whether or not they succeed.
 * @param call makes them; they are seen however deep within it they are made
 * @returns what `call` returns, `undefined` when it throws
 */
export async function optional<Value>(call: () => Value | Promise<Value>): Promise<Value | undefined> {
  return fallback<Value | undefined>(call, undefined);
}

/**
 * Makes calls whose failure a value can replace: the service answers without them.
 * @returns what `call` returns, `value` when it throws
 */
export async function fallback<Value>(call: () => Value | Promise<Value>, value: Value): Promise<Value> {
  const begun: ServiceCall[] = [];
  try {
    return await scoped('fail-open', begun, call);
  } catch {
    for (const one of begun) one.covered = true;
    return value;
  }
}

/** Makes calls that the service cannot do without. What they throw names them, also where no library says so. */
export async function required<Value>(call: () => Value | Promise<Value>): Promise<Value> {
  const begun: ServiceCall[] = [];
  try {
    return await scoped('fail-closed', begun, call);
  } catch (error) {
    const last = begun.findLast(({ ending }) => ending !== undefined && isOwnershipFailure(ending.outcomeClass));
    if (last !== undefined && callsNamedBy(error).length === 0) last.caused(error);
    throw error;
  }
}

async function scoped<Value>(
  edge: 'fail-open' | 'fail-closed',
  begun: ServiceCall[],
  call: () => Value | Promise<Value>,
): Promise<Value> {
  const service = installedService()?.service;
  return service === undefined ? call() : service.scoped({ edge, begun }, call);
}
