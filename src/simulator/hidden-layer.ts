import { z } from 'zod';
import type { FileRetryBudget, FileRoute } from '../config/gateway-file.ts';
import { choice, name, note } from '../config/schema-parts.ts';
import type { Participation } from '../core/ownership/call-graph.ts';
import { callRules, type FileTimeouts } from './call-rules.ts';

/** What retries between a service and what it calls: an SDK in it, a sidecar beside it, a proxy on the way. */
export interface FileLayer {
  name: string;
  participation: Participation;
  retry?: FileRoute['retry'] | undefined;
  timeouts?: FileTimeouts | undefined;
  retryBudget?: FileRetryBudget | undefined;
}

const layer = z.strictObject({
  name: name('What it is: sdk, mesh, gateway.'),
  participation: choice('As of a service. A layer that knows nothing of claims is `legacy`.', [
    'cooperating',
    'context-broken',
    'legacy',
  ]).prefault('legacy'),
  retry: callRules.retry,
  timeouts: callRules.timeouts,
  retryBudget: callRules.retryBudget,
});

/** The layers of a call, nearest to the caller first. */
export const layers: z.ZodOptional<z.ZodType<FileLayer[]>> = note(
  z.array(layer).max(8).optional(),
  'What else retries this call on its way, nearest to the service first. What a layer leaves out it does not have: no retries, no limit of time, no budget.',
  'a list: [{ name: sdk, retry: { attempts: 2, codes: [503] } }]',
);
