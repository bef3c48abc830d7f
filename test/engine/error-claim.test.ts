import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withClaim } from '../../src/core/ownership/claimed-facts.ts';
import { CLAIM_REASONS, RETRY_ADVICES, type ErrorClaim } from '../../src/core/ownership/error-claim.ts';
import { readErrorClaim, withErrorClaim, withoutErrorClaim } from '../../src/engine/error-claim.ts';
import type { ItemFault } from '../../src/engine/structured-item.ts';
import { decideOn } from '../core/fixtures.ts';

const PLAIN: ErrorClaim = {
  claim: 'owned',
  why: undefined,
  retry: undefined,
  kept: false,
  effect: undefined,
  hops: undefined,
  domain: undefined,
  source: undefined,
};

const WHOLE = { alias: false, identity: true };

function read(value: string): ErrorClaim | undefined {
  return readErrorClaim(['Error-Claim', value]).claim;
}

test('a claim in all its parts is read', () => {
  const value = 'relayed;why=timeout;retry=never;hops=2;kept=?0;effect=maybe;domain="r1";source="payments/charge"';
  assert.deepEqual(readErrorClaim(['error-claim', value]), {
    claim: {
      claim: 'relayed',
      why: 'timeout',
      retry: 'never',
      kept: false,
      effect: 'maybe',
      hops: 2,
      domain: 'r1',
      source: 'payments/charge',
    },
    fault: undefined,
  });
});

test('a word alone is a claim', () => {
  assert.deepEqual(read('owned'), PLAIN);
  assert.deepEqual(read(' relayed '), { ...PLAIN, claim: 'relayed' });
  assert.deepEqual(read('"relayed"'), { ...PLAIN, claim: 'relayed' });
});

test('a claim that keeps the retry for its caller says so with a bare parameter', () => {
  assert.equal(read('owned;kept')?.kept, true);
  assert.equal(read('owned;kept=?1')?.kept, true);
  assert.equal(read('owned;kept=1')?.kept, false);
});

for (const parameters of [
  'why=whim',
  'why=5',
  'retry=always',
  'retry=?0',
  'effect=surely',
  'hops=-1',
  'hops=1.5',
  'hops=two',
  'domain="a b"',
  'domain=""',
  `source="${'x'.repeat(65)}"`,
  'source=:YQ==:',
  'what=new',
  'constructor=1;toString',
]) {
  test(`;${parameters} says nothing, and the rest of the claim stands`, () => {
    const claim = read(`relayed;why=timeout;${parameters.toLowerCase()};kept`);
    const expected = {
      ...PLAIN,
      claim: 'relayed',
      why: parameters.startsWith('why') ? undefined : 'timeout',
      kept: true,
    };
    assert.deepEqual(claim, expected);
  });
}

test('a claim that says too many hops is taken for the most that are counted', () => {
  assert.equal(read('owned;hops=99')?.hops, 99);
  assert.equal(read('owned;hops=100')?.hops, 99);
  assert.equal(read('owned;hops=999999999999999')?.hops, 99);
});

test('of a parameter that is there twice the last one counts, as RFC 9651 has it', () => {
  assert.equal(read('owned;hops=1;hops=2')?.hops, 2);
});

for (const [name, value, fault] of [
  ['an empty value', '', 'malformed'],
  ['a list', 'owned, relayed', 'malformed'],
  ['a dictionary', 'claim=owned', 'malformed'],
  ['a parameter without a name', 'owned;', 'malformed'],
  ['a name in capitals', 'owned;Why=timeout', 'malformed'],
  ['a name that begins with an underscore', 'owned;__proto__=1', 'malformed'],
  ['an unknown word', 'mine', 'unknown-value'],
  ['a word in capitals', 'OWNED', 'unknown-value'],
  ['a number', '1', 'unknown-value'],
  ['a truth', '?1', 'unknown-value'],
  ['257 characters', `owned;source="${'x'.repeat(242)}"`, 'too-long'],
  ['8 KiB', 'owned'.padEnd(8192), 'too-long'],
  ['a tab', 'owned;\twhy=local', 'not-ascii'],
  ['a letter beyond ASCII', 'owned;source="é"', 'not-ascii'],
  ['a line break', 'owned\r\nx: y', 'not-ascii'],
  ['a zero byte', 'owned\0', 'not-ascii'],
  ['nine parameters', 'owned;a;b;c;d;e;f;g;h;i', 'too-many-parameters'],
] as const) {
  test(`${name} is no claim and is counted as ${fault}`, () => {
    assert.deepEqual(readErrorClaim(['Error-Claim', value]), { claim: undefined, fault });
  });
}

test('256 characters and eight parameters are still read', () => {
  assert.equal(read(`owned;x="${'x'.repeat(246)}"`)?.claim, 'owned');
  assert.equal(`owned;x="${'x'.repeat(246)}"`.length, 256);
  assert.equal(read('owned;a;b;c;d;e;f;g;h')?.claim, 'owned');
});

test('a claim that is there twice is none, even when both say the same', () => {
  const fields = ['Error-Claim', 'relayed', 'ERROR-CLAIM', 'relayed'];
  assert.deepEqual(readErrorClaim(fields), { claim: undefined, fault: 'repeated' satisfies ItemFault });
});

test('no field is no claim and no fault', () => {
  assert.deepEqual(readErrorClaim(['Server', 'x']), { claim: undefined, fault: undefined });
});

test('the alias is read where there is no claim that can be', () => {
  const alias = (value: string, ...others: string[]): unknown => {
    const { claim, fault } = readErrorClaim(['X-Uber-Error-Claim', value, ...others]);
    return [claim?.claim, fault];
  };
  assert.deepEqual(alias('CLAIMED'), ['owned', undefined]);
  assert.deepEqual(alias('UNCLAIMED'), ['relayed', undefined]);
  assert.deepEqual(alias('claimed'), [undefined, 'unknown-value']);
  assert.deepEqual(alias('CLAIMED', 'x-uber-error-claim', 'CLAIMED'), [undefined, 'repeated']);
  assert.deepEqual(alias('UNCLAIMED', 'Error-Claim', 'owned'), ['owned', undefined]);
  assert.deepEqual(alias('UNCLAIMED', 'Error-Claim', '???'), ['relayed', 'malformed']);
  assert.deepEqual(alias('UNCLAIMED', 'Error-Claim', 'mine'), ['relayed', 'unknown-value']);
});

test('a claim is written in place of any other, with the fields around it kept', () => {
  const fields = [
    'Server',
    'x',
    'error-claim',
    'owned',
    'X-Uber-Error-Claim',
    'CLAIMED',
    'Error-Claim',
    'owned',
    'A',
    'b',
  ];
  const claim: ErrorClaim = { ...PLAIN, claim: 'relayed', why: 'timeout', hops: 2 };
  const kept = ['Server', 'x', 'A', 'b'];
  const written = [...kept, 'Error-Claim', 'relayed;why=timeout;hops=2'];
  assert.deepEqual(withErrorClaim(fields, claim, WHOLE), written);
  assert.deepEqual(withErrorClaim(fields, claim, { ...WHOLE, alias: true }), [
    ...written,
    'x-uber-error-claim',
    'UNCLAIMED',
  ]);
  assert.deepEqual(withErrorClaim([], PLAIN, { ...WHOLE, alias: true }).at(-1), 'CLAIMED');
  assert.deepEqual(withoutErrorClaim(fields), kept);
});

test('at the edge it is not told where an error arose', () => {
  const claim: ErrorClaim = { ...PLAIN, domain: 'r1', source: 'payments/charge' };
  assert.equal(withErrorClaim([], claim, WHOLE)[1], 'owned;domain="r1";source="payments/charge"');
  assert.equal(withErrorClaim([], claim, { alias: false, identity: false })[1], 'owned');
});

test('names that are no identifiers are not written', () => {
  for (const source of ['a\r\nSet-Cookie: x', 'a"b', '', 'ü', 'x'.repeat(65), '-x']) {
    assert.equal(withErrorClaim([], { ...PLAIN, source, domain: source }, WHOLE)[1], 'owned');
  }
});

const identifier = fc.option(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$/), { nil: undefined });
const claims: fc.Arbitrary<ErrorClaim> = fc.record(
  {
    claim: fc.constantFrom('owned', 'relayed'),
    why: fc.constantFrom(undefined, ...CLAIM_REASONS),
    retry: fc.constantFrom(undefined, ...RETRY_ADVICES),
    kept: fc.boolean(),
    effect: fc.constantFrom(undefined, 'maybe' as const),
    hops: fc.option(fc.nat(99), { nil: undefined }),
    domain: identifier,
    source: identifier,
  },
  { noNullPrototype: true },
);

test('every claim is read as it was written, and fits the bounds', () => {
  fc.assert(
    fc.property(claims, fc.boolean(), (claim, alias) => {
      const fields = withErrorClaim([], claim, { alias, identity: true });
      assert.ok(fields[1]!.length <= 256);
      assert.deepEqual(readErrorClaim(fields), { claim, fault: undefined });
    }),
  );
});

/** Values that are nearly claims, or anything at all. */
const values = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        'owned',
        'relayed',
        ';',
        '=',
        '?1',
        '"',
        'why',
        'timeout',
        'retry',
        'never',
        'hops',
        '9',
        ' ',
        ',',
        '\\',
        ':',
        '%',
        '@',
      ),
      { maxLength: 20 },
    )
    .map((parts) => parts.join('')),
  claims.map((claim) => withErrorClaim([], claim, WHOLE)[1]!),
);

test('no value of the field throws, and none allows a retry that would not be made without it', () => {
  const names = fc.constantFrom('Error-Claim', 'error-claim', 'x-uber-error-claim', 'X-Other');
  fc.assert(
    fc.property(
      fc.array(fc.tuple(names, values), { maxLength: 3 }),
      fc.constantFrom(404, 429, 500, 503),
      fc.constantFrom('GET', 'POST'),
      (lines, status, method) => {
        const { claim } = readErrorClaim(lines.flat());
        const response = withClaim({ status }, claim, 'enforce');
        const changes = { request: { method }, at: { otherEndpointAvailable: true } };
        const without = decideOn({ type: 'response', response: { status } }, changes);
        const decision = decideOn({ type: 'response', response }, changes);
        if (decision.type === 'retry') assert.deepEqual(decision, without);
      },
    ),
    { numRuns: 2000 },
  );
});
