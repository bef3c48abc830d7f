import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, faultsOf, withRoute } from './support.ts';

test('statuses of gRPC stand beside those of HTTP', () => {
  const { retry } = configOf(withRoute('retry: { codes: [503, grpc: [unavailable, resource-exhausted]] }')).routes[0]!;
  deepEqual([retry.codes, retry.grpcStatuses], [[503], ['unavailable', 'resource-exhausted']]);
});

for (const [what, codes, expected] of [
  [
    'a misspelt status',
    '[grpc: [unavailible]]',
    'unavailible is not an error status of gRPC (did you mean `unavailable`?)',
  ],
  [
    'a status as gRPC writes it',
    '[grpc: [RESOURCE_EXHAUSTED]]',
    'RESOURCE_EXHAUSTED is not an error status of gRPC (did you mean `resource-exhausted`?)',
  ],
  ['no status', '[grpc: []]', 'names no status of gRPC (a list: grpc: [unavailable, resource-exhausted])'],
  ['a status twice', '[grpc: [internal, internal]]', 'names internal twice (remove one of the two)'],
  [
    'something beside it',
    '[{ grpc: [internal], http: 503 }]',
    'has http beside grpc (only grpc: [...] can stand here)',
  ],
  [
    'a text',
    "['503']",
    'is neither a status nor { grpc: [...] } (write 503, or grpc: [unavailable, resource-exhausted])',
  ],
  ['half a status', '[503.5]', 'must be a whole number, not 503.5 (A response status, 400 to 599.)'],
] as const) {
  test(`${what} among the codes is told with its place`, () => {
    deepEqual(faultsOf(withRoute(`retry: { codes: ${codes} }`)), [`8:22 routes[0].retry.codes[0]: ${expected}`]);
  });
}
