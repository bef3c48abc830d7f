import { deepEqual, equal, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { formatFault } from '../../src/config/fault.ts';
import { readConfigFile } from '../../src/gateway/config-file.ts';
import { smallest } from '../config/support.ts';

const folder = mkdtempSync(join(tmpdir(), 'mulligan-file-'));
after(() => rmSync(folder, { recursive: true }));

function faultsOf(path: string): string[] {
  const result = readConfigFile(path);
  return result.ok ? [] : result.faults.map((fault) => formatFault(fault).slice(path.length));
}

test('a file is read and checked', () => {
  const path = join(folder, 'good.yaml');
  writeFileSync(path, smallest);
  ok(readConfigFile(path).ok);
});

test('a byte order mark is no fault', () => {
  const path = join(folder, 'bom.yaml');
  writeFileSync(path, `\ufeff${smallest}`);
  deepEqual(faultsOf(path), []);
});

for (const [name, make, fault] of [
  [
    'missing',
    () => {},
    ':1:1 cannot be read: there is no such file (is the path right, and relative to the working directory?)',
  ],
  [
    'utf-16',
    (path: string) => writeFileSync(path, Buffer.from(`\ufeff${smallest}`, 'utf16le')),
    ':1:1 cannot be read: it is not UTF-8 text (save it as UTF-8)',
  ],
  [
    'large',
    (path: string) => writeFileSync(path, Buffer.alloc(3_000_000, '#')),
    ':1:1 is larger than 1 MiB (such files have a few hundred lines; was another file meant?)',
  ],
  [
    'empty pipe',
    (path: string) => void execFileSync('mkfifo', [path]),
    ':1:1 is empty (it needs at least `listeners`, `upstreams` and `routes`; see `mulligan proxy --help` for a gateway without a file)',
  ],
] as const) {
  test(`${name}: what keeps a file from being read is a fault like any other`, () => {
    const path = join(folder, `${name.replace(' ', '-')}.yaml`);
    make(path);
    deepEqual(faultsOf(path), [fault]);
  });
}

test('a directory is no file', () => {
  equal(faultsOf(folder)[0], ':1:1 cannot be read: it is a directory (name the file in it)');
});
