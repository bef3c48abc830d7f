import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { readConfiguration } from '../../src/service/configuration.ts';

const REGISTER = new URL('../../src/service/register.ts', import.meta.url).href;

test('an application that itself tells nothing outlives a stderr that nobody reads', async () => {
  const app = `setTimeout(() => { console.log('alive'); }, 1);`;
  const child = spawn(process.execPath, ['--import', REGISTER, '--eval', app], {
    env: { ...process.env, MULLIGAN_MODE: 'nonsense' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.destroy();
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (told += text));
  const [code] = (await once(child, 'close')) as [number | null];
  assert.deepEqual([code, told], [0, 'alive\n']);
});

test('an empty MULLIGAN_SERVICE_CONFIG names no file', async () => {
  assert.deepEqual(await readConfiguration({ MULLIGAN_SERVICE_CONFIG: '' }), { ok: true, options: {} });
});
