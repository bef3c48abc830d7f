import { z } from 'zod';
import { circuitBreakerFaults } from '../config/breaker-checks.ts';
import { circuitBreaker } from '../config/circuit-breaker-schema.ts';
import { defaults } from '../config/defaults.ts';
import type { DataFault, DataPath } from '../config/fault.ts';
import type { FileCircuitBreaker, FileRetryBudget, FileRoute } from '../config/gateway-file.ts';
import type { Mapping } from '../config/plain-data.ts';
import { isMapping, list, mapping } from '../config/plain-data.ts';
import { retryFaults, timeoutFaults } from '../config/route-checks.ts';
import { retry } from '../config/route-schema.ts';
import { duration, note } from '../config/schema-parts.ts';
import { budgetFaults } from '../config/upstream-checks.ts';
import { retryBudget } from '../config/upstream-schema.ts';

export interface FileTimeouts {
  request: number;
  backendRequest: number;
}

const timeouts: z.ZodType<FileTimeouts> = z.strictObject({
  request: duration('The whole call: every attempt and every wait. 0s disables.').prefault(defaults.timeouts.request),
  backendRequest: duration('One attempt. 0s disables.').prefault(defaults.timeouts.backendRequest),
});

/** A gateway's timeouts, where a file says nothing. */
export const DEFAULT_TIMEOUTS: FileTimeouts = timeouts.parse({});

/** How a call is made, in the words and with the defaults of a gateway file. */
export const callRules: {
  readonly timeouts: z.ZodOptional<z.ZodType<FileTimeouts>>;
  readonly retry: z.ZodOptional<z.ZodType<FileRoute['retry']>>;
  readonly retryBudget: z.ZodOptional<z.ZodType<FileRetryBudget>>;
  readonly circuitBreaker: z.ZodOptional<z.ZodType<FileCircuitBreaker>>;
} = {
  timeouts: note(timeouts.optional(), 'Limits of time.', 'for example { request: 2s, backendRequest: 500ms }'),
  retry: note(retry.optional(), 'As in a gateway file.', 'for example { attempts: 2, codes: [502, 503, 504] }'),
  retryBudget: note(
    retryBudget.optional(),
    'As in a gateway file; each call has a budget of its own.',
    'for example { percent: 10 }',
  ),
  circuitBreaker: note(
    circuitBreaker.optional(),
    'As in a gateway file; each call has its own. Left out: no limit.',
    'for example { consecutiveFailures: 5 }',
  ),
};

/** What contradicts itself in the rules of a call. */
export function callRuleFaults(path: DataPath, rules: Mapping): DataFault[] {
  return [
    ...timeoutFaults([...path, 'timeouts'], mapping(rules['timeouts'])),
    ...retryFaults([...path, 'retry'], mapping(rules['retry'])),
    ...grpcFaults([...path, 'retry', 'codes'], list(mapping(rules['retry'])['codes'])),
    ...budgetFaults([...path, 'retryBudget'], mapping(rules['retryBudget'])),
    ...circuitBreakerFaults([...path, 'circuitBreaker'], mapping(rules['circuitBreaker'])),
  ];
}

/** Entries that a gateway understands and the model does not: left out, they would make a policy look milder than it is. */
function grpcFaults(path: DataPath, codes: readonly unknown[]): DataFault[] {
  return [...codes.entries()]
    .filter(([, code]) => isMapping(code) && code['grpc'] !== undefined)
    .map(([index]) => ({
      path: [...path, index],
      message: 'names statuses of gRPC, which the simulator does not know: its errors are statuses of HTTP',
      hint: 'write the status of HTTP that stands for them, for example 503',
    }));
}
