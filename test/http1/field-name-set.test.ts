import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FieldNameSet } from '../../src/http1/field-name-set.ts';

describe('a set of field names', () => {
  const names = new FieldNameSet(['via', 'connection', 'keep-alive']);

  test('knows its names in any case', () => {
    for (const name of ['via', 'Via', 'CONNECTION', 'Keep-Alive']) assert.equal(names.has(name), true, name);
  });

  test('knows no other name, of the same length, of another, or of none', () => {
    for (const name of ['age', 'user-agent', 'kept-alive', 'conneçtion', 'x', '', 'x-a-rather-long-name'])
      assert.equal(names.has(name), false, name);
  });
});
