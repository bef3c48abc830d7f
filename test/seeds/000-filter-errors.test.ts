import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { because, explain } from '../../src/core/explain.ts';
import { FailureError } from '../../src/core/failure-error.ts';
import type { Failure } from '../../src/core/failure.ts';
import { HttpStatusError } from '../../src/proxy/error-response.ts';
import { requestRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { startLab } from './000-lab.ts';

/** What a filter throws, and what the client gets. 0: nothing, its connection ends. */
const SOURCES: readonly (readonly [string, Error, number])[] = [
  ['a status of its own', new HttpStatusError(403), 403],
  ['a status around a failure of the upstream', new HttpStatusError(409, '', { cause: failed('upstream') }), 409],
  ['a failure of the upstream', failed('upstream'), 502],
  ['a connection that the upstream closed', failed('upstream', 'connection_terminated'), 502],
  ['a timeout of the upstream: free of the 502', failed('upstream', 'connection_read_timeout'), 504],
  ['a client whose connection is dead', failed('downstream', 'downstream_closed'), 0],
  ['another fault of the client', failed('downstream', 'downstream_protocol_error'), 400],
  ['a client that is slow: free of the 400', failed('downstream', 'downstream_timeout'), 408],
  ['a failure of our own', failed('internal'), 500],
  ['an error with no source', new Error('an internal error'), 500],
  [
    'an error around a failure of the upstream: what wraps it decides',
    new Error('outside', { cause: failed('upstream') }),
    500,
  ],
  [
    'a failure because of a failure of the upstream: whose it is stays known',
    new FailureError(because('http_protocol_error', 'outside', failed('upstream'))),
    502,
  ],
];

function failed(source: Failure['source'], kind: Failure['kind'] = 'proxy_internal_error'): FailureError {
  return new FailureError(explain(kind, 'in a filter', { source }));
}

describe('what a filter throws has a source, and the source has a status', () => {
  for (const [name, error, status] of SOURCES) {
    test(`${name}: ${status === 0 ? 'no answer' : String(status)}`, async (t) => {
      const origin = await startOrigin({ do: 'respond', body: 'never asked' }, { t });
      const lab = await startLab(t, {
        selectUpstream: () => origin.address,
        requestFilter: () => Promise.reject(error),
      });
      const answer = await requestRaw(lab.port);
      assert.equal(answer.status, status);
      assert.equal(lab.records[0]?.status, status === 0 ? 499 : status);
      assert.equal(lab.log.filter((line) => line.startsWith('error ')).length, 1);
      assert.equal(origin.requestCount(), 0);
    });
  }
});
