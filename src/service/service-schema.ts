import { z } from 'zod';
import type { FileForm } from '../config/checked-source.ts';
import { margin as marginPart, OWNERSHIP_MODES, peer } from '../config/ownership-schema.ts';
import { choice, count, duration, note, type Part } from '../config/schema-parts.ts';

/** A service file that passed the schema. */
export interface ServiceFile {
  mode?: 'off' | 'observe' | 'enforce' | undefined;
  trust?: string[] | undefined;
  blameUnknown?: boolean | undefined;
  margin?: number | undefined;
  refuseExpired?: boolean | undefined;
  alias?: boolean | undefined;
  probeEvery?: number | undefined;
  openTelemetry?: boolean | undefined;
  memory?: { file: string; saveEvery?: number | undefined } | undefined;
  edges?: FileEdge[] | undefined;
}

interface FileEdge {
  from?: string | undefined;
  to: string;
  class?: 'fail-closed' | 'fail-open' | undefined;
  mode?: 'off' | 'observe' | 'enforce' | undefined;
}

export const margin: Part<number> = marginPart(
  'Kept for the way back of an answer: callees are told so much less, and what cannot be answered in it is refused.',
);

const operation = (description: string): z.ZodString =>
  note(z.string().min(1).max(200), description, 'for example POST orders:8080/charge, or POST orders:8080/*');

const edge = z.strictObject({
  from: operation('The inbound operation; all of them when it is left out.').optional(),
  to: operation('The operation that is called, or the beginning of it and a `*`.'),
  class: choice('Whether the service fails when this call does. Learned when it is left out.', [
    'fail-closed',
    'fail-open',
  ]).optional(),
  mode: choice('As `mode` above, for this edge.', OWNERSHIP_MODES).optional(),
});

export const serviceFile: z.ZodType<ServiceFile> = z.strictObject({
  mode: choice('What claims do: `off` nothing, `observe` counts, `enforce` obeys.', OWNERSHIP_MODES).optional(),
  trust: note(
    z.array(peer).max(1000),
    'Whose claims are read, and who is told ours.',
    'a list: [10.0.0.0/8]',
  ).optional(),
  blameUnknown: note(z.boolean(), 'Whether a failed call is the cause as long as nothing is known of it.').optional(),
  margin: margin.optional(),
  refuseExpired: note(z.boolean(), 'Whether what cannot be answered in time is refused before it begins.').optional(),
  alias: note(z.boolean(), 'Whether `x-uber-error-claim` is written too.').optional(),
  probeEvery: count('One in so many suppressed retries is let through; 0 for none.', 0, 1_000_000).optional(),
  openTelemetry: note(
    z.boolean(),
    'Whether an OpenTelemetry that the application registers is given what is counted.',
  ).optional(),
  memory: note(
    z.strictObject({
      file: note(z.string().min(1).max(4096), 'Where what was learned is kept between processes.'),
      saveEvery: duration('Between two writes of it.').optional(),
    }),
    'What was learned, kept between processes.',
  ).optional(),
  edges: note(z.array(edge).max(1000), 'What is known of edges; the first that names one holds.').optional(),
});

export const serviceForm: FileForm<ServiceFile> = {
  schema: serviceFile,
  crossChecks(data) {
    const saveEvery = (data as { memory?: { saveEvery?: unknown } } | null)?.memory?.saveEvery;
    const reading = duration('').safeParse(saveEvery);
    return saveEvery !== undefined && reading.success && (reading.data < 1000 || reading.data > 86_400_000)
      ? [{ path: ['memory', 'saveEvery'], message: 'is out of range', hint: 'from 1s to 24h' }]
      : [];
  },
  emptyHint: 'it needs at least one setting, for example `trust: [10.0.0.0/8]`; without any, remove the file',
};
