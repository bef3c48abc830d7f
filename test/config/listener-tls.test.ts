import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfigFile } from '../../src/gateway/config-file.ts';
import { createTestCertificates } from '../support/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'mulligan-listener-tls-'));
after(() => rmSync(folder, { recursive: true }));
const { server, renewed, ca } = createTestCertificates();
const texts = {
  'server.pem': server.cert,
  'server.key': server.key,
  'other.key': renewed.key,
  'ca.pem': ca,
  'noise.pem': 'nothing of use',
};
for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);

function read(tls: string): ReturnType<typeof readConfigFile> {
  const path = join(folder, 'mulligan.yaml');
  writeFileSync(
    path,
    `listeners:\n  - address: 127.0.0.1:0\n    tls: ${tls}\nupstreams: { a: { endpoints: [127.0.0.1:9001] } }\nroutes: [{ upstream: a }]\n`,
  );
  return readConfigFile(path);
}

/** `line:column path: message` of each fault. */
function faultsOf(tls: string): string[] {
  const result = read(tls);
  if (result.ok) return [];
  return result.faults.map((one) => `${one.line}:${one.column} ${one.path}: ${one.message}`);
}

test('the paths of a pair become absolute, and what is in the files stays outside', () => {
  const result = read('{ cert: server.pem, key: server.key, clientCa: ca.pem }');
  assert.ok(result.ok);
  assert.deepEqual(result.config.listeners[0]?.tls, {
    certificates: [{ hosts: [], certFile: join(folder, 'server.pem'), keyFile: join(folder, 'server.key') }],
    clientCaFile: join(folder, 'ca.pem'),
  });
});

test('several certificates have names, in lower case', () => {
  const result = read('{ certificates: [{ hosts: [A.Test, "*.b.test"], cert: server.pem, key: server.key }] }');
  assert.ok(result.ok);
  assert.deepEqual(result.config.listeners[0]?.tls?.certificates[0]?.hosts, ['a.test', '*.b.test']);
});

const pair = 'cert: server.pem, key: server.key';
const rows: readonly (readonly [string, string, string])[] = [
  ['no certificate', '{ clientCa: ca.pem }', '3:10 listeners[0].tls: names no certificate'],
  ['a key alone', '{ key: server.key }', '3:10 listeners[0].tls: has a key without its certificate'],
  [
    'a missing file',
    '{ cert: gone.pem, key: server.key }',
    '3:18 listeners[0].tls.cert: cannot be read: there is no such file',
  ],
  ['a file without PEM', '{ cert: noise.pem, key: server.key }', '3:18 listeners[0].tls.cert: holds no certificate'],
  ['a key without PEM', '{ cert: server.pem, key: noise.pem }', '3:35 listeners[0].tls.key: holds no private key'],
  [
    'the key of another',
    '{ cert: server.pem, key: other.key }',
    '3:35 listeners[0].tls.key: does not belong to the certificate',
  ],
  [
    'authorities without PEM',
    `{ ${pair}, clientCa: noise.pem }`,
    '3:57 listeners[0].tls.clientCa: holds no certificate',
  ],
  [
    'a pair beside several',
    `{ ${pair}, certificates: [{ hosts: [a.test], ${pair} }] }`,
    '3:47 listeners[0].tls.certificates: stands beside cert and key',
  ],
  [
    'a name twice',
    `{ certificates: [{ hosts: [a.test], ${pair} }, { hosts: [A.test], ${pair} }] }`,
    '3:93 listeners[0].tls.certificates[1].hosts[0]: is a name of certificates[0] too',
  ],
  [
    'a key of another in a list',
    '{ certificates: [{ hosts: [a.test], cert: server.pem, key: other.key }] }',
    '3:69 listeners[0].tls.certificates[0].key: does not belong to the certificate',
  ],
  [
    'what is no host name',
    `{ certificates: [{ hosts: ["a:b"], ${pair} }] }`,
    '3:37 listeners[0].tls.certificates[0].hosts[0]: is not a host name',
  ],
];

for (const [name, tls, fault] of rows) {
  test(`${name} is told with its place`, () => assert.deepEqual(faultsOf(tls), [fault]));
}
