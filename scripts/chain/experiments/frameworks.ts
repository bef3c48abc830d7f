import { chainFile } from '../../storms/chain-file.ts';
import { chainCase } from '../chain-case.ts';
import type { Experiment } from '../experiment.ts';
import type { ServiceKind } from '../service-kind.ts';

const byRegister: readonly ServiceKind[] = [
  'registered',
  'express',
  'fastify',
  'hono',
  'interceptor',
  'layer',
  'registered',
];
const byHand: readonly ServiceKind[] = [
  'node-adapter',
  'express-adapter',
  'fastify-adapter',
  'hono-adapter',
  'interceptor',
  'layer',
  'registered',
];

const LAST = 6;
const failing = (index: number): { readonly errorShare: number } => ({ errorShare: index === LAST ? 1 : 0 });
const text = chainFile({ length: 7 });

/** Each service on another framework, and calling by another client; the last one fails. */
export const frameworks: Experiment = {
  id: 'frameworks',
  cases: [
    chainCase({
      name: 'by register, claims only observed',
      kinds: byRegister,
      plan: (index) => ({ ...failing(index), ownership: 'observe' }),
      requestCount: 5,
      formula: [1, 2, 4, 8, 16, 32, 64],
      topology: { text, mode: 'retries' },
    }),
    ...[
      { name: 'by register', kinds: byRegister },
      { name: 'by middleware', kinds: byHand },
    ].map(({ name, kinds }) =>
      chainCase({
        name,
        kinds,
        plan: failing,
        requestCount: 100,
        concurrency: 4,
        formula: [1, 1, 1, 1, 1, 1, 2],
        topology: { text },
      }),
    ),
  ],
};
