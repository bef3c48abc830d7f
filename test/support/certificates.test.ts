import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createTestCertificates } from './certificates.ts';

test('each test certificate is good or bad in exactly the way its name says', () => {
  const made = createTestCertificates();
  const authority = new X509Certificate(made.ca);
  const now = new Date();
  for (const name of ['server', 'renewed', 'expired', 'wrongHost', 'client', 'stranger'] as const) {
    const { cert, key } = made[name];
    const read = new X509Certificate(cert);
    assert.equal(read.checkPrivateKey(createPrivateKey(key)), true, name);
    assert.equal(read.verify(authority.publicKey), name !== 'stranger', name);
    assert.equal(new Date(read.validTo) > now, name !== 'expired', name);
    const isForHere = read.checkHost('localhost') !== undefined && read.checkIP('127.0.0.1') !== undefined;
    assert.equal(isForHere, name !== 'wrongHost' && name !== 'client', name);
  }
  assert.notEqual(made.server.key, made.renewed.key);
  assert.equal(new X509Certificate(made.stranger.cert).verify(new X509Certificate(made.strangerCa).publicKey), true);
});
