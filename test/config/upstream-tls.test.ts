import { deepEqual } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { formatFault } from '../../src/config/fault.ts';
import { readConfigFile } from '../../src/gateway/config-file.ts';
import { createTestCertificates } from '../support/certificates.ts';
import { configOf, faultsOf, withUpstream } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'mulligan-tls-'));
after(() => rmSync(folder, { recursive: true }));
const { ca, client, server } = createTestCertificates();
writeFileSync(join(folder, 'ca.pem'), ca);
writeFileSync(join(folder, 'client.pem'), client.cert);
writeFileSync(join(folder, 'client.key'), client.key);
writeFileSync(join(folder, 'other.key'), server.key);
writeFileSync(join(folder, 'empty.pem'), '');
writeFileSync(join(folder, 'broken.pem'), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');

/** Every fault of the smallest file with this on its upstream, read from the folder of the files. */
function faultsBeside(lines: string): string[] {
  const path = join(folder, 'gateway.yaml');
  writeFileSync(path, withUpstream(lines));
  const result = readConfigFile(path);
  const faults = result.ok ? result.warnings : result.faults;
  return faults.map((fault) => formatFault(fault).replaceAll(folder, 'FOLDER'));
}

test('files are found beside the configuration, and their content stays out of it', () => {
  const path = join(folder, 'gateway.yaml');
  writeFileSync(
    path,
    withUpstream('protocol: auto\ntls: { serverName: orders.internal, ca: ca.pem, cert: client.pem, key: client.key }'),
  );
  const result = readConfigFile(path);
  deepEqual(result.ok ? result.config.upstreams[0]?.tls : result.faults, {
    serverName: 'orders.internal',
    caFile: join(folder, 'ca.pem'),
    certFile: join(folder, 'client.pem'),
    keyFile: join(folder, 'client.key'),
    verify: true,
  });
});

test('TLS with nothing more to say verifies by what the machine trusts', () => {
  deepEqual(configOf(withUpstream('tls: {}')).upstreams[0]?.tls, {
    serverName: undefined,
    caFile: undefined,
    certFile: undefined,
    keyFile: undefined,
    verify: true,
  });
});

const rows: readonly (readonly [name: string, lines: string, expected: readonly string[]])[] = [
  [
    'a file that is not there',
    'tls: { ca: none.pem }',
    [
      'FOLDER/gateway.yaml:6:16 upstreams.orders.tls.ca: cannot be read: there is no such file (it stands for FOLDER/none.pem)',
    ],
  ],
  [
    'a file without a certificate',
    'tls: { ca: empty.pem }',
    [
      'FOLDER/gateway.yaml:6:16 upstreams.orders.tls.ca: holds no certificate (PEM text is wanted: a line -----BEGIN CERTIFICATE----- and what follows)',
    ],
  ],
  [
    'a certificate where a key should be',
    'tls: { cert: client.pem, key: client.pem }',
    [
      'FOLDER/gateway.yaml:6:35 upstreams.orders.tls.key: holds no private key (PEM text is wanted: a line -----BEGIN PRIVATE KEY----- and what follows)',
    ],
  ],
  [
    "another certificate's key",
    'tls: { cert: client.pem, key: other.key }',
    [
      'FOLDER/gateway.yaml:6:35 upstreams.orders.tls.key: does not belong to the certificate (name the key that the certificate was issued for)',
    ],
  ],
];

for (const [name, lines, expected] of rows)
  test(`${name} is told with its place`, () => deepEqual(faultsBeside(lines), expected));

test('a certificate that cannot be read is told with its place', () => {
  const [fault, ...more] = faultsBeside('tls: { ca: broken.pem }');
  deepEqual(more, []);
  deepEqual(
    fault?.startsWith('FOLDER/gateway.yaml:6:16 upstreams.orders.tls.ca: certificate 1 cannot be read: '),
    true,
  );
});

test('a certificate without its key, an address as a name, and a word that is no protocol are told', () => {
  deepEqual(faultsOf(withUpstream('tls: { cert: a.pem }')), [
    '6:10 upstreams.orders.tls: has a certificate without its key (name both files: cert and key)',
  ]);
  deepEqual(faultsOf(withUpstream('tls: { serverName: 10.0.0.1 }')), [
    '6:24 upstreams.orders.tls.serverName: is an address, not a name (remove it: a certificate for the address is accepted)',
  ]);
  deepEqual(faultsOf(withUpstream('protocol: h2')), [
    '6:15 upstreams.orders.protocol: must be one of http1, http2, auto',
  ]);
});

test('servers that are believed unseen are a warning, and an authority beside that a fault', () => {
  deepEqual(faultsOf(withUpstream('tls: { verify: false }')), [
    '6:20 warning: upstreams.orders.tls.verify: whoever answers at these addresses is believed (name the authority that issued the certificates: ca: FILE)',
  ]);
  deepEqual(
    faultsOf(withUpstream('tls: { verify: false, ca: ca.pem }')).filter((line) => !line.includes('warning')),
    [
      '6:27 upstreams.orders.tls.ca: has no effect beside verify: false (remove `verify`: the authority is enough to trust these servers)',
    ],
  );
});
