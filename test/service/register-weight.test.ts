import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** `import … from 'x'`, `export … from 'x'` and `import 'x'`; not those of types alone, which are gone when it runs. */
const STATIC = /^(?:import|export) (?!type )(?:[^'";]* from )?'([^']+)';/gm;

/** Every package that is loaded with a module, through modules of ours. */
function packagesOf(entry: URL): Set<string> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const waiting = [entry];
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    if (seen.has(url.href)) continue;
    seen.add(url.href);
    for (const [, name = ''] of readFileSync(url, 'utf8').matchAll(STATIC)) {
      if (name.startsWith('.')) waiting.push(new URL(name, url));
      else if (!name.startsWith('node:')) packages.add(name);
    }
  }
  assert.ok(seen.size > 20, 'the modules of the register were found');
  return packages;
}

test('a service without a file of settings and without OpenTelemetry loads no parser, no schema and no API for them', () => {
  const register = new URL('../../src/service/register.ts', import.meta.url);
  assert.deepEqual([...packagesOf(register)].toSorted(), ['structured-headers']);
});
