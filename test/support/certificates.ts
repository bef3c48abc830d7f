import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its private key, each as PEM text. */
export interface CertifiedKey {
  readonly cert: string;
  readonly key: string;
}

export interface TestCertificates {
  /** Who issued everything here but `stranger`. */
  readonly ca: string;
  /** For localhost, 127.0.0.1 and ::1. */
  readonly server: CertifiedKey;
  /** Like `server`, with another key: what a renewal brings. */
  readonly renewed: CertifiedKey;
  /** Like `server`, but over since yesterday. */
  readonly expired: CertifiedKey;
  /** For `elsewhere.test` alone. */
  readonly wrongHost: CertifiedKey;
  /** A client's, with the common name `test client`. */
  readonly client: CertifiedKey;
  /** For localhost and 127.0.0.1, issued by `strangerCa`. */
  readonly stranger: CertifiedKey;
  readonly strangerCa: string;
}

const HERE = 'DNS:localhost,IP:127.0.0.1,IP:::1';

let made: TestCertificates | undefined;

/** Certificates that are made once a process, by `openssl`: nothing in the repository can expire. */
export function createTestCertificates(): TestCertificates {
  made ??= makeAll();
  return made;
}

function makeAll(): TestCertificates {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-certificates-'));
  try {
    const ca = makeAuthority(folder, 'test authority');
    const strangerCa = makeAuthority(folder, 'strange authority');
    return {
      ca: ca.cert,
      server: issue(folder, ca, { name: 'localhost', hosts: HERE }),
      renewed: issue(folder, ca, { name: 'localhost', hosts: HERE }),
      expired: issue(folder, ca, { name: 'localhost', hosts: HERE, days: -1 }),
      wrongHost: issue(folder, ca, { name: 'elsewhere.test', hosts: 'DNS:elsewhere.test' }),
      client: issue(folder, ca, { name: 'test client' }),
      stranger: issue(folder, strangerCa, { name: 'localhost', hosts: HERE }),
      strangerCa: strangerCa.cert,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function makeAuthority(folder: string, name: string): CertifiedKey {
  const key = newKey();
  const keyFile = write(folder, 'authority.key', key);
  const cert = openssl('req', '-x509', '-new', '-key', keyFile, '-subj', `/CN=${name}`, '-days', '30');
  return { cert, key };
}

function issue(
  folder: string,
  authority: CertifiedKey,
  { name, hosts, days = 30 }: { readonly name: string; readonly hosts?: string; readonly days?: number },
): CertifiedKey {
  const key = newKey();
  const keyFile = write(folder, 'subject.key', key);
  const requestFile = write(folder, 'subject.csr', openssl('req', '-new', '-key', keyFile, '-subj', `/CN=${name}`));
  const usage = hosts === undefined ? 'clientAuth' : 'serverAuth';
  const extensions = [`extendedKeyUsage=${usage}`, ...(hosts === undefined ? [] : [`subjectAltName=${hosts}`])];
  const cert = openssl(
    ...['x509', '-req', '-in', requestFile, '-days', String(days)],
    ...['-CA', write(folder, 'authority.pem', authority.cert), '-CAkey', write(folder, 'authority.key', authority.key)],
    ...['-set_serial', String(Math.floor(Math.random() * 2 ** 48))],
    ...['-extfile', write(folder, 'extensions', `${extensions.join('\n')}\n`)],
  );
  return { cert, key };
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** What the command writes on standard output: PEM text. */
function openssl(...args: readonly string[]): string {
  return execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
