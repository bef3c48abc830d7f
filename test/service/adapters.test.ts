import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { fallback, optional, required } from '../../src/service/edges.ts';
import { ownsError, remainingTimeMs } from '../../src/service/answering.ts';
import { installedService, installService, type InstalledService } from '../../src/service/install.ts';
import { FRAMEWORK_APPS } from './framework-apps.ts';
import { startRawOrigin, type RawOrigin } from './raw-origin.ts';

let origin: RawOrigin;
let base: string;

before(async () => {
  origin = await startRawOrigin((path) => {
    if (path.startsWith('/ok')) return [200, ''];
    return path.startsWith('/relayed') ? [503, 'error-claim: relayed;hops=3\r\n'] : [503, ''];
  });
  base = origin.url;
});

after(() => origin.close());

async function call(path: string): Promise<string> {
  const response = await fetch(`${base}${path}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${String(response.status)}`);
  return text;
}

async function refused(): Promise<string> {
  try {
    return await (await fetch('http://127.0.0.1:1111/')).text();
  } catch (error) {
    throw new Error('no stock', { cause: error });
  }
}

const WORK: Readonly<Record<string, () => Promise<unknown>>> = {
  well: () => call('/ok'),
  own: () => Promise.reject(new Error('own')),
  relayed: () => call('/relayed'),
  named: async () => {
    // Two calls fail; the error names the one that was never sent.
    await call('/relayed').catch(() => '');
    return refused();
  },
  optional: async () => {
    await optional(() => call('/relayed'));
    throw new Error('own');
  },
  fallback: async () => {
    assert.equal(await fallback(() => call('/relayed'), 'none'), 'none');
    throw new Error('own');
  },
  required: async () => {
    await call('/relayed').catch(() => '');
    return required(() => call('/fails'));
  },
  shed: () => {
    ownsError({ why: 'overload', retry: 'other' });
    return Promise.reject(new Error('full'));
  },
  left: () => Promise.resolve(String(remainingTimeMs())),
};

const CLAIMS: readonly (readonly [kind: string, claim: string | null])[] = [
  ['well', null],
  ['own', 'owned;why=local;hops=0'],
  ['relayed', 'relayed;why=dependency;hops=4'],
  ['named', 'owned;why=unsent;hops=1;kept'],
  ['optional', 'owned;why=local;hops=0'],
  ['fallback', 'owned;why=local;hops=0'],
  ['required', 'owned;why=dependency;hops=1;kept'],
  ['shed', 'owned;why=overload;retry=other;hops=0'],
];

for (const app of FRAMEWORK_APPS) {
  for (const hooked of [false, true]) {
    describe(`${app.name}, ${hooked ? 'registered too' : 'by its adapter alone'}`, () => {
      let installed: InstalledService;
      let url: string;
      let ran = 0;
      let close: () => Promise<void>;

      before(async () => {
        installed = installService({ trust: ['127.0.0.0/8'] }, { servers: hooked });
        const started = await app.start(async (kind) => {
          ran += 1;
          return String(await WORK[kind]!());
        });
        close = started.close;
        url = `http://127.0.0.1:${String((started.server.address() as AddressInfo).port)}`;
      });

      after(async () => {
        await close();
        installed.uninstall();
      });

      const get = async (kind: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> => {
        const response = await fetch(`${url}/work/${kind}`, { headers });
        // The application under test makes its own calls through the same hooks, and so does this one: it has no context.
        return response;
      };

      for (const [kind, claim] of CLAIMS) {
        test(`answers '${kind}' with ${claim ?? 'no claim'}`, async () => {
          const response = await get(kind);
          assert.equal(response.status, claim === null ? 200 : 500);
          assert.equal(response.headers.get('error-claim'), claim);
          await response.text();
        });
      }

      test('keeps requests that are answered at the same time apart', async () => {
        const kinds = Array.from({ length: 24 }, (_, index) => CLAIMS[index % CLAIMS.length]!);
        const answers = await Promise.all(kinds.map(([kind]) => get(kind)));
        assert.deepEqual(
          answers.map((answer) => answer.headers.get('error-claim')),
          kinds.map(([, claim]) => claim),
        );
        await Promise.all(answers.map((answer) => answer.text()));
      });

      test('knows how long the caller waits', async () => {
        const leftMs = Number(await (await get('left', { 'request-timeout': '5000' })).text());
        assert.ok(leftMs > 0 && leftMs <= 5000);
        assert.equal(await (await get('left')).text(), 'Infinity');
      });

      test('refuses a request without time to answer it before its handler', async () => {
        const ranBefore = ran;
        // Its name is a guess from the path: no route was looked for.
        const response = await get('7', { 'request-timeout': '1' });
        assert.deepEqual([response.status, response.headers.get('error-claim')], [504, 'owned;why=timeout;hops=0']);
        await response.text();
        assert.equal(ran, ranBefore);
        assert.equal(
          installed.metrics().operations.reduce((sum, { expiredCount }) => sum + expiredCount, 0),
          1,
        );
      });

      test('counts by the route where the framework names it, and no hook failed', () => {
        const { operations, hookFaults } = installed.metrics();
        const names = operations.map(({ inbound }) => inbound);
        if (app.namesRoutes) assert.deepEqual(names, ['GET /work/:id']);
        else assert.ok(names.includes('GET /work/relayed'));
        assert.deepEqual(hookFaults, {});
      });
    });
  }
}

test('without an installed service a declared edge and an adapter change nothing', async () => {
  assert.equal(installedService(), undefined);
  assert.equal(await optional(() => call('/fails')), undefined);
  assert.equal(await fallback(() => 3, 4), 3);
  await assert.rejects(
    required(() => call('/fails')),
    /503/,
  );
  const app = await FRAMEWORK_APPS[0]!.start(() => Promise.reject(new Error('own')));
  const port = (app.server.address() as AddressInfo).port;
  const response = await fetch(`http://127.0.0.1:${String(port)}/`);
  assert.equal(response.headers.get('error-claim'), null);
  await response.text();
  await app.close();
});
