import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  connectionNominated,
  fieldValue,
  fieldValues,
  hasField,
  listMembers,
  removeFields,
} from '../../src/http1/field-list.ts';

const FIELDS = [
  'Host',
  'a',
  'X-A',
  '1',
  'x-a',
  '2',
  '__proto__',
  'p',
  'Connection',
  'close, X-A',
  'connection',
  ' ,\tKeep-Alive ,',
];

describe('field list', () => {
  it('finds the first value by name in any case', () => {
    assert.equal(fieldValue(FIELDS, 'x-A'), '1');
    assert.equal(fieldValue(FIELDS, '__proto__'), 'p');
    assert.equal(fieldValue(FIELDS, 'constructor'), undefined);
    // A value is not a name.
    assert.equal(fieldValue(FIELDS, 'p'), undefined);
  });

  it('finds all values in order', () => {
    assert.deepEqual(fieldValues(FIELDS, 'X-a'), ['1', '2']);
    assert.deepEqual(fieldValues(FIELDS, 'none'), []);
  });

  it('tells whether a name is there', () => {
    assert.equal(hasField(FIELDS, 'HOST'), true);
    assert.equal(hasField(['X', ''], 'x'), true);
    assert.equal(hasField(FIELDS, 'toString'), false);
  });

  it('removes names in any case and leaves the list alone', () => {
    const before = [...FIELDS];
    assert.deepEqual(removeFields(FIELDS, new Set(['x-a', 'connection', 'close'])), ['Host', 'a', '__proto__', 'p']);
    assert.deepEqual(FIELDS, before);
  });

  it('splits lists at commas, without empty members, cutting spaces and tabs only', () => {
    assert.deepEqual(listMembers('a'), ['a']);
    assert.deepEqual(listMembers(' a ,\tb\t,, c d ,'), ['a', 'b', 'c d']);
    assert.deepEqual(listMembers(''), []);
    assert.deepEqual(listMembers('\xa0a'), ['\xa0a']);
  });

  it('collects what all Connection fields nominate', () => {
    assert.deepEqual([...connectionNominated(FIELDS)], ['close', 'x-a', 'keep-alive']);
    assert.equal(connectionNominated([]).size, 0);
  });
});
