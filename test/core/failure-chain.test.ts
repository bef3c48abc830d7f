import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFailure } from '../../src/core/failure-chain.ts';
import type { FailureCause, FailurePhase } from '../../src/core/failure.ts';
import { failure } from './fixtures.ts';

test('a failure alone is its source, its kind and how far it came', () => {
  const words: Readonly<Record<FailurePhase, string>> = {
    select: 'while choosing an endpoint',
    connect: 'while connecting',
    tls: 'in the TLS handshake',
    send: 'while sending the request',
    wait: 'while waiting for the response',
    head: 'while reading the response head',
    body: 'while reading the response body',
  };
  for (const [phase, text] of Object.entries(words) as [FailurePhase, string][]) {
    assert.equal(describeFailure(failure({ phase })), `upstream connection_terminated ${text}`);
  }
});

test('what was being done and the causes follow, outermost first', () => {
  const cause: FailureCause = {
    code: 'ECONNREFUSED',
    message: 'nobody listens',
    cause: { code: '', message: 'the service was stopped' },
  };
  assert.equal(
    describeFailure(
      failure({ kind: 'connection_refused', phase: 'connect', context: 'connect to 127.0.0.1:9001', cause }),
    ),
    'upstream connection_refused while connecting: connect to 127.0.0.1:9001: ECONNREFUSED nobody listens: the service was stopped',
  );
});

test('a link is one text where its message holds its code, or where there is no message', () => {
  const holds = failure({ cause: { code: 'EPIPE', message: 'write EPIPE' } });
  assert.ok(describeFailure(holds).endsWith('response: write EPIPE'));
  const bare = failure({ cause: { code: 'EPIPE', message: '' } });
  assert.ok(describeFailure(bare).endsWith('response: EPIPE'));
});

test('what was said above is not said again, and what is empty is not printed', () => {
  const repeated = failure({
    context: '',
    cause: {
      code: 'connection_terminated',
      message: '',
      cause: { code: '', message: '', cause: { code: 'X', message: 'X happened', cause: { code: 'X', message: '' } } },
    },
  });
  assert.equal(describeFailure(repeated), 'upstream connection_terminated while waiting for the response: X happened');
});

test('a chain that bites its tail is printed to its tenth link', () => {
  let cause: FailureCause | undefined;
  for (let link = 99; link >= 1; link -= 1) cause = { code: '', message: `<${String(link)}>`, cause };
  const text = describeFailure(failure({ cause }));
  assert.ok(text.endsWith(': <9>: <10>'), text);
});
