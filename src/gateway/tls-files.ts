import { createPrivateKey, X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { TlsFileKind, TlsFileProblem, TlsFiles } from '../config/tls-files.ts';
import { readTextFile, unreadable } from './text-file.ts';

/** Files beside a configuration file, as they are now: every question reads them anew. */
export function createTlsFiles(configPath: string): TlsFiles {
  const folder = dirname(resolve(configPath));
  const read = (path: string): string => readTextFile(resolve(folder, path));
  return {
    resolve: (path) => resolve(folder, path),
    problem(kind, path) {
      let text: string;
      try {
        text = read(path);
      } catch (error) {
        const { message } = unreadable(path, error);
        return { message, hint: `it stands for ${resolve(folder, path)}` };
      }
      return problemOf(kind, text);
    },
    isPair(certificatePath, keyPath) {
      const [first = ''] = pemBlocks(read(certificatePath), 'CERTIFICATE');
      return new X509Certificate(first).checkPrivateKey(createPrivateKey(read(keyPath)));
    },
  };
}

function problemOf(kind: TlsFileKind, text: string): TlsFileProblem | undefined {
  if (kind === 'key') return keyProblem(text);
  const blocks = pemBlocks(text, 'CERTIFICATE');
  if (blocks.length === 0) return { message: 'holds no certificate', hint: pemHint('CERTIFICATE') };
  for (const [index, block] of blocks.entries()) {
    try {
      void new X509Certificate(block);
    } catch (error) {
      return { message: `certificate ${index + 1} cannot be read: ${wordsOf(error)}`, hint: pemHint('CERTIFICATE') };
    }
  }
  return undefined;
}

function keyProblem(text: string): TlsFileProblem | undefined {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text))
    return { message: 'is encrypted', hint: 'store it without a passphrase, readable by this process alone' };
  try {
    createPrivateKey(text);
    return undefined;
  } catch (error) {
    if (!text.includes('PRIVATE KEY-----')) return { message: 'holds no private key', hint: pemHint('PRIVATE KEY') };
    return { message: `the private key cannot be read: ${wordsOf(error)}`, hint: pemHint('PRIVATE KEY') };
  }
}

function pemBlocks(text: string, label: string): string[] {
  return text.match(new RegExp(`-----BEGIN ${label}-----[^-]*-----END ${label}-----`, 'g')) ?? [];
}

function pemHint(label: string): string {
  return `PEM text is wanted: a line -----BEGIN ${label}----- and what follows`;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
