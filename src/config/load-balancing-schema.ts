import type { LoadBalancing } from '../core/load-balancing.ts';
import { defaults } from './defaults.ts';
import type { FileLoadBalancing } from './gateway-file.ts';
import { nearestName } from './nearest-name.ts';
import { isMapping } from './plain-data.ts';
import type { Reading } from './quantity.ts';
import type { Part } from './schema-parts.ts';
import { part } from './schema-parts.ts';

const policies: readonly LoadBalancing[] = ['least-request', 'round-robin', 'random', 'consistent-hash'];
const hashExample = '{ consistent-hash: { header: x-user } }';

/** A word; or, for the field that `consistent-hash` looks at, a mapping. */
const onePolicy: Part<FileLoadBalancing> = part(
  'How an endpoint is chosen. `least-request`: the less busy of two picked at random. `consistent-hash`: the same one for the same client address, or with { consistent-hash: { header: x-user } } for the same value of a request field (the address where the request does not have it); when endpoints come and go, only their own share moves.',
  { type: ['string', 'object'] },
  (input) => {
    if (isMapping(input)) return readHash(input);
    const policy = policies.find((candidate) => candidate === input);
    if (policy !== undefined) return { ok: true, value: { policy } };
    const near = typeof input === 'string' ? nearestName(input, policies) : undefined;
    const hint = near === undefined ? `or ${hashExample}` : `did you mean \`${near}\`?`;
    return { ok: false, message: `must be one of ${policies.join(', ')}`, hint };
  },
);

export const loadBalancing: Defaulted<typeof onePolicy> = onePolicy.prefault(defaults.loadBalancing);

type Defaulted<T extends Part<FileLoadBalancing>> = ReturnType<T['prefault']>;

/** What an editor is told: see `json-schema.ts`. */
export const loadBalancingForms: readonly object[] = [
  { type: 'string', enum: policies },
  {
    type: 'object',
    properties: {
      'consistent-hash': {
        type: 'object',
        description: 'What keeps requests at the same endpoint.',
        properties: { header: { type: 'string', description: 'The request field whose value is looked at.' } },
        additionalProperties: false,
      },
    },
    required: ['consistent-hash'],
    additionalProperties: false,
  },
];

function readHash(input: Readonly<Record<string, unknown>>): Reading<FileLoadBalancing> {
  const keys = Object.keys(input);
  const settings = input['consistent-hash'];
  const bad = (message: string): Reading<FileLoadBalancing> => ({ ok: false, message, hint: `write ${hashExample}` });
  if (keys.length !== 1 || keys[0] !== 'consistent-hash') return bad('may be a mapping only for consistent-hash');
  if (!isMapping(settings) || Object.keys(settings).some((key) => key !== 'header'))
    return bad('consistent-hash has one setting: header');
  const { header } = settings;
  if (header === undefined) return { ok: true, value: { policy: 'consistent-hash' } };
  // RFC 9110 §5.6.2.
  if (typeof header !== 'string' || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/.test(header))
    return bad('header is not the name of a field');
  return { ok: true, value: { policy: 'consistent-hash', header: header.toLowerCase() } };
}
