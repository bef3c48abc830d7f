import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gatewayJsonSchema } from '../../src/config/json-schema.ts';

const committed: unknown = JSON.parse(readFileSync(new URL('../../config.schema.json', import.meta.url), 'utf8'));

test('config.schema.json is what the schema gives; node scripts/config-schema.ts writes it', () => {
  deepEqual(committed, JSON.parse(JSON.stringify(gatewayJsonSchema())));
});

test('every setting of the JSON Schema says what it is', () => {
  const silent: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { properties, items, additionalProperties, anyOf } = schema as Record<string, unknown>;
    for (const [name, inner] of Object.entries((properties ?? {}) as Record<string, object>)) {
      if (!('description' in inner)) silent.push(`${path}.${name}`);
      visit(inner, `${path}.${name}`);
    }
    for (const inner of [items, additionalProperties, ...((anyOf ?? []) as unknown[])]) visit(inner, path);
  };
  visit(committed, '');
  deepEqual(silent, []);
});

test('what is not supported yet is not offered', () => {
  equal(JSON.stringify(committed).includes('Not supported yet'), false);
});
