import { deepEqual, equal, match } from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { smallest } from '../config/support.ts';
import { runCli } from './running-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'mulligan-usage-'));
after(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

test('--version prints the version of the package', async (t) => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  deepEqual(await runCli(t, '--version'), { code: 0, stdout: `${version}\n`, stderr: '' });
});

for (const args of [['--help'], ['serve', '--help'], ['proxy', '--help'], ['check', '--help']]) {
  test(`${args.join(' ')} prints help and ends fine`, async (t) => {
    const { code, stdout } = await runCli(t, ...args);
    equal(code, 0);
    match(stdout, /^Usage: mulligan/);
  });
}

const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
  [[], /Usage: mulligan/],
  [['srve'], /unknown command 'srve'[^]*Did you mean serve/],
  [['serve'], /-c FILE is missing/],
  [['serve', '--confg', 'x'], /unknown option '--confg'[^]*Did you mean --config/],
  [['check', '-c'], /argument missing/],
  [['proxy', '--to', 'http://127.0.0.1:1'], /--listen HOST:PORT is missing/],
  [['proxy', '--listen', '127.0.0.1:0'], /--to URL is missing/],
  [
    ['proxy', '--listen', '8080', '--to', '127.0.0.1:1'],
    /--listen 8080: has no host \(write 127\.0\.0\.1:8080, or 0\.0\.0\.0:8080 for every interface\)/,
  ],
  [
    ['proxy', '--listen', '127.0.0.1:0', '--to', 'https://a.example'],
    /--to https:\/\/a\.example: TLS towards a server takes a gateway file \(upstreams\.NAME\.tls/,
  ],
  [['proxy', '--listen', '127.0.0.1:0', '--to', 'http://a.example/x'], /--to .*paths are not supported/],
  [['proxy', '--listen', '127.0.0.1:0', '--to', 'http://u:p@a.example'], /--to .*user names do not belong here/],
  [
    ['proxy', '--listen', '127.0.0.1:0', '--to', '127.0.0.1:1', '--retries', 'two'],
    /--retries two: give a whole number from 0 to 100/,
  ],
  [
    ['proxy', '--listen', '127.0.0.1:0', '--to', '127.0.0.1:1', '--on', 'timeouts'],
    /--on: must be one of .*did you mean `timeout`/,
  ],
  [
    ['proxy', '--listen', '127.0.0.1:0', '--to', '127.0.0.1:1', '--to', '127.0.0.1:1'],
    /--to: 127\.0\.0\.1:1 is endpoints\[0\] too/,
  ],
  [['serve', '-c', '/nowhere/mulligan.yaml'], /\/nowhere\/mulligan\.yaml:1:1 cannot be read: there is no such file/],
  [['serve', '-c', '/'], /cannot be read: it is a directory/],
];

for (const [args, expected] of mistakes) {
  test(`mulligan ${args.join(' ')} ends with 2 and says what to do`, async (t) => {
    const { code, stdout, stderr } = await runCli(t, ...args);
    equal(code, 2);
    match(stderr, expected);
    equal(stdout, '');
  });
}

test('check says that a file is fine', async (t) => {
  const path = file('fine.yaml', smallest);
  deepEqual(await runCli(t, 'check', '-c', path), {
    code: 0,
    stdout: `${path}: fine: 1 listener, 1 upstream, 1 route\n`,
    stderr: '',
  });
});

test('check prints every fault with its place and ends with 2', async (t) => {
  const path = file('faults.yaml', `${smallest}    retry: { backof: 3 }\nworkers: 2\n`);
  const { code, stdout } = await runCli(t, 'check', '-c', path);
  equal(code, 2);
  deepEqual(stdout.split('\n'), [
    `${path}:8:14 routes[0].retry.backof: is not a known setting (did you mean \`backoff\`?)`,
    `${path}:9:10 workers: must be 1 (only one process is supported yet)`,
    '',
  ]);
});

test('a warning does not fail a check', async (t) => {
  const path = file('warning.yaml', `${smallest}    retry: { attempts: 0, codes: [503] }\n`);
  const { code, stdout } = await runCli(t, 'check', '-c', path);
  equal(code, 0);
  match(stdout, /:8:27 warning: routes\[0\]\.retry\.codes: has no effect/);
});

test('check --json prints one object', async (t) => {
  const path = file('json.yaml', `${smallest}colour: red\n`);
  const { code, stdout } = await runCli(t, 'check', '-c', path, '--json');
  equal(code, 2);
  const { ok, faults } = JSON.parse(stdout) as { ok: boolean; faults: Record<string, unknown>[] };
  equal(ok, false);
  deepEqual(
    faults.map(({ severity, line, column, path: where }) => [severity, line, column, where]),
    [['error', 8, 1, 'colour']],
  );
});

test('a file with faults starts nothing', async (t) => {
  const path = file('broken.yaml', smallest.replace('9001', '0'));
  const { code, stdout, stderr } = await runCli(t, 'serve', '-c', path);
  equal(code, 2);
  equal(stdout, '');
  match(stderr, /:5:17 upstreams\.orders\.endpoints\[0\]: port 0 does not exist/);
  match(stderr, /nothing was started/);
});
