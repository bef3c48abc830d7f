import { budgetAvailability, coincidence, partialFailure } from './availability.ts';
import { brokenContext, chainLoads, deepBudgets, layers } from './call-chains.ts';
import { costly, herd, nearTimeout, oldClients, overlapping, slowVendor } from './incidents.ts';
import { database, thresholds, threeProtections } from './metastable.ts';
import type { Reproduction } from './reproduction.ts';
import { timeouts, whereToRetry } from './timeouts.ts';

/** In the order of docs/storms.md. */
export const reproductions: readonly Reproduction[] = [
  chainLoads,
  layers,
  deepBudgets,
  brokenContext,
  budgetAvailability,
  partialFailure,
  coincidence,
  whereToRetry,
  timeouts,
  database,
  thresholds,
  threeProtections,
  overlapping,
  nearTimeout,
  herd,
  oldClients,
  slowVendor,
  costly,
];
