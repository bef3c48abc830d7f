import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { z } from 'zod';
import { endpointSlice, referenceGrant, service, trafficPolicy } from '../../src/config/gateway-api/schema/cluster.ts';
import { gateway } from '../../src/config/gateway-api/schema/gateway.ts';
import { httpRoute } from '../../src/config/gateway-api/schema/http-route.ts';
import { readManifestFolder } from '../../src/gateway/manifest-folder.ts';
import { fieldsOf } from './schema-fields.ts';
import { troubles } from './support.ts';

const text = readFileSync('docs/gateway-api.md', 'utf8');

const kinds: Readonly<Record<string, z.ZodType>> = {
  Gateway: gateway,
  HTTPRoute: httpRoute,
  'BackendTrafficPolicy and XBackendTrafficPolicy': trafficPolicy,
  ReferenceGrant: referenceGrant,
  Service: service,
  EndpointSlice: endpointSlice,
};

/** Fields that the schema lets pass because the resource is judged by them later: tests of their own show how. */
const judged = /\.tls$|\.(?:cors|externalAuth|extensionRef)$|^spec\.rules\[\]\.backendRefs\[\]\.filters\[\]/;

/** Rows `| field | yes | … |` of the section of a kind. */
function rowsOf(kind: string): readonly { readonly path: string; readonly supported: boolean }[] {
  const [, section = ''] = text.split(`\n### ${kind}\n`);
  const own = section.split(/\n##/)[0]!;
  return [...own.matchAll(/^\| `([^`]+)` \| (yes|no) \|/gm)].map(([, path, word]) => ({
    path: path!,
    supported: word === 'yes',
  }));
}

for (const [kind, schema] of Object.entries(kinds)) {
  test(`the documented fields of ${kind} are those that the code reads`, () => {
    const fields = fieldsOf(schema);
    const rows = rowsOf(kind);
    ok(rows.length > 0, 'the table was found');
    const covers = (row: string, field: string): boolean =>
      field === row || field.startsWith(`${row}.`) || field.startsWith(`${row}[`);
    for (const { path, supported } of fields) {
      const row = rows.filter((one) => covers(one.path, path)).toSorted((a, b) => b.path.length - a.path.length)[0];
      ok(row !== undefined, `${path} is not documented`);
      equal(row.supported, supported && !judged.test(path), `${path} by ${row.path}`);
    }
    deepEqual(
      rows.filter((row) => !fields.some(({ path }) => covers(row.path, path))).map(({ path }) => path),
      [],
      'documented, and not read',
    );
  });
}

test('the example folder is in effect as it stands there', () => {
  const reading = readManifestFolder('examples/gateway-api');
  deepEqual(troubles(reading), []);
  deepEqual(
    reading.config?.upstreams.map(({ name, endpoints }) => [name, endpoints.length]),
    [
      ['shop/orders:80', 2],
      ['shop/orders-canary:80', 1],
    ],
  );
  deepEqual(
    reading.config?.listeners.map(({ address }) => address.key),
    ['127.0.0.1:8080'],
  );
});
