import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import type { ChainReport } from '../../src/cli/demo/chain-story.ts';
import type { DemoReport } from '../../src/cli/demo/report.ts';
import { parseConfig } from '../../src/config/parse.ts';
import { requestRaw } from '../support/raw-client.ts';
import { runCli, startCli } from './running-cli.ts';

test('the gateway part for machines', async (t) => {
  const { code, stdout, stderr } = await runCli(t, 'demo', '--only', 'gateway', '--json');

  await t.test('ends by itself with exit code 0 and one document', () => {
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(typeof JSON.parse(stdout), 'object');
  });
  const report = JSON.parse(stdout) as DemoReport;
  const { requests, summary } = report;
  const find = (path: string): DemoReport['requests'][number] => requests.find((one) => one.path === path)!;

  await t.test('no POST without a key reached servers twice', () => {
    const posts = requests.filter(({ method, idempotencyKey }) => method === 'POST' && idempotencyKey === null);
    assert.ok(posts.length >= 5);
    assert.deepEqual(
      posts.filter((post) => post.with.serverCount > 1),
      [],
    );
    assert.deepEqual([summary.with.unkeyedPostsSeenTwice, summary.unkeyedPostCount], [0, posts.length]);
  });

  await t.test('a POST without a key is sent again when nothing of it was sent, and only then', () => {
    assert.deepEqual(
      [find('/down/1').method, find('/down/1').with.retryCount, find('/down/1').with.status],
      ['POST', 1, 200],
    );
    assert.deepEqual([find('/crash/4').with.reason, find('/crash/4').with.serverCount], ['not-idempotent', 1]);
    assert.deepEqual([find('/stale/5').with.reason, find('/stale/5').with.serverCount], ['not-idempotent', 1]);
  });

  await t.test('in no scenario fewer clients succeed with mulligan than without, and in all together more', () => {
    for (const scenario of report.scenarios) {
      assert.ok(scenario.with.successCount >= scenario.without.successCount, scenario.name);
    }
    assert.ok(summary.with.successCount > summary.without.successCount);
  });

  await t.test('servers saw each request as often as its record says that it was sent', () => {
    for (const { path, with: way } of requests) {
      const sent = way.attempts.filter((attempt) => attempt.class !== 'unsent');
      assert.equal(way.serverCount, sent.length, path);
      assert.equal(way.retryCount, way.attempts.length - 1, path);
    }
  });

  await t.test('every send carried the body and the key of the client', () => {
    assert.deepEqual([summary.with.alteredCount, summary.without.alteredCount], [0, 0]);
  });

  await t.test('a client gets what the last send brought', () => {
    for (const { path, with: way } of requests) {
      const last = way.attempts.at(-1)!;
      assert.equal(way.status, last.status ?? 502, path);
    }
  });

  await t.test('Retry-After is waited for, or handed to the client when it is too long', () => {
    const soon = find('/busy/soon/1').with;
    assert.deepEqual([soon.status, soon.serverCount], [200, 2]);
    assert.ok(soon.waitMs >= 1000);
    const later = find('/busy/later/1').with;
    assert.deepEqual(
      [later.status, later.retryAfter, later.reason, later.serverCount],
      [503, '30', 'retry-after-too-long', 1],
    );
  });

  await t.test('retries stay within the budget in the outage', () => {
    const outage = report.scenarios.find(({ hopeless }) => hopeless)!;
    assert.ok(outage.with.retryCount <= outage.requestCount * 0.2, `${outage.with.retryCount} retries`);
    assert.equal(outage.with.serverCount, outage.requestCount + outage.with.retryCount);
  });

  await t.test('the summary adds up to the requests', () => {
    const total = (numberOf: (request: (typeof requests)[number]) => number): number =>
      requests.reduce((sum, request) => sum + numberOf(request), 0);
    assert.equal(summary.requestCount, requests.length);
    assert.equal(
      summary.with.serverCount,
      total((one) => one.with.serverCount),
    );
    assert.equal(
      summary.without.serverCount,
      total((one) => one.without.serverCount),
    );
    assert.equal(
      summary.with.retryCount,
      total((one) => one.with.retryCount),
    );
    assert.equal(
      summary.stopReasons.reduce((sum, { count }) => sum + count, 0),
      requests.length,
    );
  });

  await t.test('the configuration it shows is one that serve would take', () => {
    assert.deepEqual(
      { ...parseConfig(report.config.text, 'gateway.yaml'), config: undefined },
      {
        ok: true,
        config: undefined,
        warnings: [],
      },
    );
  });

  await t.test('its files are gone', () => {
    assert.equal(report.config.kept, false);
    assert.equal(existsSync(dirname(report.config.path)), false);
  });
});

test('the gateway part for people shows each request and what it came to, in 100 columns without colours', async (t) => {
  const { code, stdout, stderr } = await runCli(t, 'demo', '--only', 'gateway');
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^POST +\/down\/1 +closed refused → healthy 200 +200 +1× +success/m);
  assert.match(stdout, /^POST +\/crash\/4 +crashing (?:cut off|hung up) +502 +1× +not-idempotent/m);
  assert.match(stdout, /^GET +\/busy\/soon\/1 +busy 503 → 200 +200 +2× +success +1\d\d\d/m);
  assert.match(stdout, /… and \d+ more like the last one/);
  assert.match(stdout, /^together +\d+ of \d+ +\d+ % +\d+ +\d+ of \d+ +\d+ % +\d+ +\d+$/m);
  assert.match(stdout, /^ +\d+ {2}budget-exhausted +more retries would multiply/m);
  assert.match(stdout, /^✔ POSTs without Idempotency-Key that servers saw twice: 0 of \d+\.$/m);
  // The path of the temporary folder is the machine's; everything else is ours to keep short.
  const lines = stdout.split('\n').filter((line) => !line.includes('mulligan-demo-'));
  assert.deepEqual(
    lines.filter((line) => line.length > 100),
    [],
  );
  assert.doesNotMatch(stdout, /[\u001B\r✘]/);
});

/** Seven processes start, on a machine that may have other things to do. */
const CHAIN_LIMIT_MS = 80_000;

test('the demo begins with a chain of services in which each gets exactly what the formulas say', async (t) => {
  const cli = startCli(t, ['demo']);
  assert.deepEqual([await cli.exit(CHAIN_LIMIT_MS), cli.stderr], [0, '']);
  const lines = cli.stdout.split('\n');
  const loads = lines.flatMap((line) => {
    const match = /^(\S.*?) {2,}(\d[\d.]*(?: +\d[\d.]*){6})(?: |$)/.exec(line);
    return match === null ? [] : [[match[1], match[2]!.split(/ +/).map(Number)]];
  });
  assert.deepEqual(loads, [
    ['each service retries once', [1, 2, 4, 8, 8, 8, 8]],
    ['the same, 10 % budgets', [1, 1.1, 1.2, 1.3, 1.3, 1.3, 1.3]],
    ['ownership', [1, 1, 1, 2, 2, 2, 2]],
    ['ownership, 10 % budgets', [1, 1, 1, 1.1, 1.1, 1.1, 1.1]],
    ['ownership, C loses track', [1, 1, 2, 4, 4, 4, 4]],
  ]);
  assert.match(cli.stdout, /^ownership, C loses track .* C counts 40 stray calls$/m);
  assert.match(cli.stdout, /^✔ D gets 2 requests for one instead of 8/m);
  assert.ok(cli.stdout.indexOf('D gets 2 requests') < cli.stdout.indexOf('A gateway:'), 'the gateway comes after it');
  assert.deepEqual(
    lines.filter((line) => line.length > 100 && !line.includes('mulligan-demo-')),
    [],
  );
});

test('the chain for machines says what each service got and what it must get', async (t) => {
  const cli = startCli(t, ['demo', '--only', 'chain', '--json']);
  assert.deepEqual([await cli.exit(CHAIN_LIMIT_MS), cli.stderr], [0, '']);
  const { chain, gateway } = JSON.parse(cli.stdout) as { readonly chain: ChainReport; readonly gateway?: string };
  assert.deepEqual([chain.services.join(''), chain.requestCount, gateway], ['ABCDEFG', 20, undefined]);
  assert.equal(chain.modes.length, 5);
  for (const { name, servedCounts, expectedCounts, failedCount } of chain.modes) {
    assert.deepEqual([servedCounts, failedCount], [expectedCounts, 20], name);
  }
});

test('a chain that a signal cuts short leaves nothing running, and says which signal it was', async (t) => {
  const cli = startCli(t, ['demo', '--only', 'chain']);
  await cli.line((line) => line.startsWith('A chain'));
  cli.child.kill('SIGTERM');
  // It ends only when no service holds it any more.
  assert.deepEqual([await cli.exit(CHAIN_LIMIT_MS), cli.stderr], [143, '']);
});

test('a demo of one part that makes no sense is refused', async (t) => {
  const unknown = await runCli(t, 'demo', '--only', 'storm');
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /chain, gateway/);
  const kept = await runCli(t, 'demo', '--only', 'chain', '--keep');
  assert.equal(kept.code, 2);
  assert.match(kept.stderr, /--keep keeps the gateway up/);
});

test('a demo whose reader goes away ends quietly', async (t) => {
  const cli = startCli(t, ['demo', '--only', 'gateway']);
  cli.child.stdout.once('data', () => cli.child.stdout.destroy());
  assert.deepEqual([await cli.exit(), cli.stderr], [0, '']);
});

test('a demo that a signal cuts short takes its files away and says which signal it was', async (t) => {
  const cli = startCli(t, ['demo', '--only', 'gateway']);
  const line = await cli.line((text) => text.includes('gateway.yaml'));
  cli.child.kill('SIGTERM');
  assert.deepEqual([await cli.exit(), cli.stderr], [143, '']);
  assert.equal(existsSync(folderIn(line)), false);
});

test('a demo that is kept serves on until a signal, and leaves its files', async (t) => {
  const cli = startCli(t, ['demo', '--only', 'gateway', '--keep']);
  const folder = folderIn(await cli.line((text) => text.includes('gateway.yaml')));
  t.after(() => rmSync(folder, { recursive: true }));
  const line = await cli.line((text) => text.includes('stays up'));
  const port = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(line)![1]);
  assert.equal((await requestRaw(port, { target: '/fine/again' })).status, 200);
  cli.child.kill('SIGINT');
  assert.deepEqual([await cli.exit(), cli.stderr], [0, '']);
  assert.deepEqual([existsSync(`${folder}/gateway.yaml`), existsSync(`${folder}/access.log`)], [true, true]);
});

function folderIn(line: string): string {
  return dirname(/\S*gateway\.yaml/.exec(line)![0]);
}
