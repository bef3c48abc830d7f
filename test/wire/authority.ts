import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestCertificates } from '../support/certificates.ts';

let path: string | undefined;

/** A file with who signed the certificates of the tests. It is gone when the process ends. */
export function caFile(): string {
  if (path === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'mulligan-wire-'));
    path = join(folder, 'ca.pem');
    writeFileSync(path, createTestCertificates().ca);
    process.once('exit', () => rmSync(folder, { recursive: true }));
  }
  return path;
}
