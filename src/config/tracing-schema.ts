import { z } from 'zod';
import { defaults } from './defaults.ts';
import type { FileTracing } from './gateway-file.ts';
import type { Reading } from './quantity.ts';
import { environmentName, name, note, part } from './schema-parts.ts';

const PATH_OF_TRACES = 'v1/traces';

/** The address of a collector as people write it, made into the one that spans are posted to. */
function readCollector(input: unknown): Reading<string> {
  const bad = (message: string, hint: string): Reading<string> => ({ ok: false, message, hint });
  if (typeof input !== 'string') return bad('must be a URL', 'for example http://127.0.0.1:4318');
  if (!/^https?:\/\//i.test(input) || !URL.canParse(input))
    return bad('is not a URL of http or https', 'for example http://127.0.0.1:4318');
  const url = new URL(input);
  if (url.username !== '' || url.password !== '')
    return bad('holds a user name', 'secrets do not belong here: use headers: { authorization: { file: PATH } }');
  if (url.search !== '' || url.hash !== '')
    return bad('has a query or a fragment', 'write the scheme, the host, the port and perhaps a path');
  if (!url.pathname.endsWith(`/${PATH_OF_TRACES}`))
    url.pathname += url.pathname.endsWith('/') ? PATH_OF_TRACES : `/${PATH_OF_TRACES}`;
  return { ok: true, value: url.href };
}

function readSample(input: unknown): Reading<FileTracing['sample']> {
  if (input === 'parent' || input === 'always') return { ok: true, value: input };
  const hint = 'write parent, always or { ratio: 0.1 }';
  if (typeof input !== 'object' || input === null || Object.keys(input).join() !== 'ratio')
    return { ok: false, message: 'is not a choice of requests', hint };
  const { ratio } = input as { ratio: unknown };
  if (typeof ratio !== 'number' || !(ratio > 0 && ratio <= 1))
    return { ok: false, message: 'must have a ratio above 0, at most 1', hint: 'to record nothing, remove `tracing`' };
  return { ok: true, value: { ratio } };
}

const secretSource = note(
  z.strictObject({
    file: note(z.string().min(1).max(4096).optional(), 'A file that holds it.'),
    env: environmentName('OTLP_AUTHORIZATION', 'value').optional(),
  }),
  'Where the value is.',
  'write { file: PATH } or { env: NAME }: the value itself never stands in this file',
);

/** Where traces go, and which requests are recorded. */
export const tracing: z.ZodType<FileTracing> = z.strictObject({
  otlp: part<string>(
    'The collector: its URL for OTLP over HTTP. `/v1/traces` is added unless it is there.',
    { type: 'string', pattern: '^https?://[^@?#]+$' },
    readCollector,
  ),
  sample: part<FileTracing['sample']>(
    'Which requests are recorded. `parent`: as their `traceparent` says, all without one. `always`: all. `{ ratio: 0.1 }`: that share of the traces, minus those whose client does not record; a client cannot raise it.',
    { type: ['string', 'object'] },
    readSample,
  ).prefault(defaults.tracing.sample),
  service: name('What the spans call this gateway: `service.name`.').prefault(defaults.tracing.service),
  headers: note(
    z.record(z.string(), secretSource),
    'Fields that the collector wants, each with the place of its value.',
    'for example { authorization: { file: PATH } }',
  ).prefault({}),
});
