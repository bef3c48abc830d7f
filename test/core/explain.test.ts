import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { because, explain, isFailure, moreContext } from '../../src/core/explain.ts';
import { failureCause } from '../../src/core/failure-cause.ts';
import { describeFailure } from '../../src/core/failure-chain.ts';
import { FailureError } from '../../src/core/failure-error.ts';
import type { Failure, FailureKind } from '../../src/core/failure.ts';
import { classifyFailure } from '../../src/core/safety.ts';
import { failure } from './fixtures.ts';

const REFUSED = failure({ kind: 'connection_refused', phase: 'connect', context: 'connect to 127.0.0.1:9001' });

/** What somebody says, and the line that comes of it. */
const LINES: readonly (readonly [string, Failure, string])[] = [
  [
    'explain: kind and words, ours and unsent unless more is known',
    explain('proxy_configuration_error', 'no signing key'),
    'internal proxy_configuration_error while choosing an endpoint: no signing key',
  ],
  [
    'explain with evidence',
    explain('http_response_timeout', 'ask the licence server', { source: 'upstream', phase: 'wait', bytesSent: 9 }),
    'upstream http_response_timeout while waiting for the response: ask the licence server',
  ],
  [
    'explain without words prints no empty part',
    explain('http_request_denied', ''),
    'internal http_request_denied while choosing an endpoint',
  ],
  [
    'because of a failure: its source and phase are known, its kind and words follow',
    because('destination_unavailable', 'no licence server left', REFUSED),
    'upstream destination_unavailable while connecting: no licence server left: connection_refused connect to 127.0.0.1:9001',
  ],
  [
    'because of a failure that is somebody else’s: its source is named',
    because('proxy_internal_error', 'audit', REFUSED, { source: 'internal', phase: 'select' }),
    'internal proxy_internal_error while choosing an endpoint: audit: upstream connection_refused connect to 127.0.0.1:9001',
  ],
  [
    'because of the same kind: the kind is not said twice',
    because('connection_refused', 'second try', REFUSED),
    'upstream connection_refused while connecting: second try: connect to 127.0.0.1:9001',
  ],
  [
    'because of an exception that carries a failure',
    because('hook_error', 'requestFilter', new FailureError(REFUSED), { source: 'internal' }),
    'internal hook_error in user code: requestFilter: upstream connection_refused connect to 127.0.0.1:9001',
  ],
  [
    'because of an Error with causes',
    because('hook_error', 'requestFilter', new TypeError('no session', { cause: new Error('redis is away') })),
    'internal hook_error in user code: requestFilter: TypeError no session: redis is away',
  ],
  [
    'because of an Error whose cause carries a failure',
    because('hook_error', 'log', new Error('not written', { cause: new FailureError(REFUSED) })),
    'internal hook_error in user code: log: not written: upstream connection_refused connect to 127.0.0.1:9001',
  ],
  [
    'because of an Error that repeats its cause',
    because('hook_error', 'log', new Error('not written: disk full', { cause: new Error('disk full') })),
    'internal hook_error in user code: log: not written: disk full',
  ],
  [
    'because of an aggregate',
    because('hook_error', 'connected', new AggregateError([new Error('a is away'), new Error('b is away')])),
    'internal hook_error in user code: connected: AggregateError the first of 2 errors: a is away',
  ],
  ['because of a string', because('hook_error', 'log', 'boom'), 'internal hook_error in user code: log: boom'],
  ['because of a number', because('hook_error', 'log', 42), 'internal hook_error in user code: log: 42'],
  [
    'because of a symbol',
    because('hook_error', 'log', Symbol('s')),
    'internal hook_error in user code: log: symbol Symbol(s)',
  ],
  [
    'because of nothing',
    because('hook_error', 'log', undefined),
    'internal hook_error in user code: log: undefined nothing was thrown',
  ],
  ['because of an empty object', because('hook_error', 'log', {}), 'internal hook_error in user code: log'],
  [
    'more context: outermost words first, nothing else changes',
    moreContext(moreContext(REFUSED, 'peer orders'), 'checkout'),
    'upstream connection_refused while connecting: checkout: peer orders: connect to 127.0.0.1:9001',
  ],
  [
    'the same context twice is said once',
    moreContext(moreContext(REFUSED, 'peer orders'), 'peer orders'),
    'upstream connection_refused while connecting: peer orders: connect to 127.0.0.1:9001',
  ],
  [
    'line breaks of user text stay within the line',
    explain('hook_error', 'a\r\nerror forged\u2028line'),
    'internal hook_error in user code: a error forged line',
  ],
];

describe('a failure in words', () => {
  for (const [name, value, line] of LINES) test(name, () => assert.equal(describeFailure(value), line));
});

const anyFailure: fc.Arbitrary<Failure> = fc.record({
  kind: fc.constantFrom<FailureKind>(
    'connection_terminated',
    'request_rejected',
    'http_response_timeout',
    'overloaded',
  ),
  source: fc.constantFrom('upstream', 'downstream', 'internal'),
  phase: fc.constantFrom('select', 'connect', 'tls', 'send', 'wait', 'head', 'body'),
  reused: fc.boolean(),
  bytesSent: fc.nat(3),
  bytesReceived: fc.nat(3),
  unprocessed: fc.constantFrom(undefined, true),
  context: fc.option(fc.string(), { nil: undefined }),
  cause: fc.option(fc.record({ code: fc.string(), message: fc.string() }), { nil: undefined }),
});

/** Anything user code may throw, causes and cycles included. */
const thrown: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.anything(),
    fc.tuple(fc.string(), tie('value')).map(([message, cause]) => new Error(message, { cause })),
    fc.array(tie('value'), { maxLength: 3 }).map((errors) => new AggregateError(errors)),
    anyFailure.map((one) => new FailureError(one)),
    fc.string().map((message) => {
      const error: Error & { cause?: unknown } = new Error(message);
      error.cause = new Error('inner', { cause: error });
      return error;
    }),
  ),
})).value;

describe('whatever happens', () => {
  test('more context never changes whether it may be sent again', () => {
    fc.assert(
      fc.property(anyFailure, fc.string(), (one, context) => {
        const wrapped = moreContext(one, context);
        assert.equal(classifyFailure(wrapped), classifyFailure(one));
        assert.equal(wrapped.source, one.source);
      }),
    );
  });

  test('another kind around a failure never makes a repeat look safer', () => {
    fc.assert(
      fc.property(anyFailure, fc.constantFrom<FailureKind>('proxy_internal_error', 'hook_error'), (one, kind) => {
        const outside = classifyFailure(because(kind, 'around', one));
        const inside = classifyFailure(one);
        assert.ok(outside === inside || outside === 'ambiguous', `${inside} became ${outside}`);
      }),
    );
  });

  test('everything that is thrown becomes one line, without an empty part and without the same part twice', () => {
    fc.assert(
      fc.property(thrown, fc.string(), (error, context) => {
        const line = describeFailure(because('hook_error', context, error));
        assert.ok(line.startsWith('internal hook_error in user code') || isCarried(error), line);
        assert.doesNotMatch(line, /[\p{Cc}\p{Zl}\p{Zp}]/u);
        assert.ok(!line.endsWith(': '), line);
        assert.ok(line.length < 8_000);
      }),
    );
  });

  test('the words of every link are in the line, for words without line breaks', () => {
    const word = fc.stringMatching(/^[a-z]{4,12}$/);
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 8 }), (context, messages) => {
        const error = messages.reduceRight<unknown>((cause, message) => new Error(message, { cause }), undefined);
        const line = describeFailure(because('hook_error', context, error ?? 'nothing'));
        for (const text of [context, ...messages]) assert.ok(line.includes(text), `${text} is missing in ${line}`);
        const parts = line.split(': ');
        assert.equal(new Set(parts).size, parts.length, line);
      }),
    );
  });

  test('a reason is at most ten links long, and plain data', () => {
    fc.assert(
      fc.property(thrown, (error) => {
        let links = 0;
        let link: ReturnType<typeof failureCause> | undefined = failureCause(error);
        for (; link !== undefined; link = link.cause) links += 1;
        assert.ok(links <= 11);
        assert.doesNotThrow(() => JSON.stringify(failureCause(error)));
      }),
    );
  });
});

test('an exception says in its message what its failure says', () => {
  const error = new FailureError(REFUSED);
  assert.equal(error.message, describeFailure(REFUSED));
  assert.equal(error.failure, REFUSED);
  assert.equal(error.name, 'FailureError');
});

test('a failure is told from what only looks like an error', () => {
  assert.ok(isFailure(REFUSED));
  for (const other of [undefined, null, 'upstream', {}, { kind: 'x' }, new Error('x'), new FailureError(REFUSED)]) {
    assert.equal(isFailure(other), false);
  }
});

function isCarried(error: unknown): boolean {
  return error instanceof FailureError || isFailure(error);
}
