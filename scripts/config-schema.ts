/**
 * Writes config.schema.json from the schema in src/config. `--check` only says whether the file is current.
 * Exit codes: 0 fine, 1 not current.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { gatewayJsonSchema } from '../src/config/json-schema.ts';

const file = new URL('../config.schema.json', import.meta.url);
const text = `${JSON.stringify(gatewayJsonSchema(), null, 2)}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (readFileSync(file, 'utf8') !== text) {
  console.error('config.schema.json is not current: run node scripts/config-schema.ts');
  process.exitCode = 1;
}
