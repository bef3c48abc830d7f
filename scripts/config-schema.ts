/**
 * Writes config.schema.json and docs/configuration.md from the schema in src/config. `--check` only says whether they
 * are current. Exit codes: 0 fine, 1 not current.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { gatewayJsonSchema } from '../src/config/json-schema.ts';
import { configPage } from './config-page.ts';

const schema = gatewayJsonSchema();
const files = [
  { name: 'config.schema.json', text: `${JSON.stringify(schema, null, 2)}\n` },
  { name: 'docs/configuration.md', text: configPage(schema) },
];

for (const { name, text } of files) {
  const file = new URL(`../${name}`, import.meta.url);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`${name} is not current: run npm run schema`);
    process.exitCode = 1;
  }
}
