import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { refusedAddress } from '../support/addresses.ts';
import { patternBytes } from '../support/fields.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { Behaviour, ScriptedOrigin } from '../support/scripted-origin.ts';
import type { BodyKind, BodyKindName } from './body-kinds.ts';
import { BODY_KINDS } from './body-kinds.ts';
import { BODY_SENDERS, CAP_BYTES } from './body-senders.ts';

/**
 * Whatever a body is made of, whoever sends it and whatever goes wrong: each attempt's bytes at the origin are the same, or
 * there is one attempt and its own outcome. An empty re-send that ends in 200 is the worst that a retry layer can do.
 */

const BYTES = patternBytes(5000);
const LARGE = patternBytes(3 * CAP_BYTES);
const BUSY: Behaviour = { do: 'respond', status: 503 };
const RESET: Behaviour = { do: 'reset', at: 'complete' };
const FINE: Behaviour = { do: 'respond' };

type Seen = ReturnType<ScriptedOrigin['request']>;
const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** The boundary that the header names is the one that the body has, at its beginning and at its end. */
function boundaryOf(seen: Seen): string {
  const [type, ...others] = seen.values('content-type');
  assert.deepEqual(others, []);
  const boundary = /^multipart\/form-data; ?boundary="?([^";]+)"?$/.exec(String(type))?.[1];
  assert.ok(boundary !== undefined, `Content-Type: ${String(type)}`);
  const text = seen.body.toString('latin1');
  assert.ok(text.startsWith(`--${boundary}\r\n`) && text.trimEnd().endsWith(`--${boundary}--`));
  return boundary;
}

/** Every request that the origin saw carries the same body, whole and as its own header declares it. */
function assertSame(origin: ScriptedOrigin, kind: BodyKind, bytes: Uint8Array, count: number): void {
  const { requests } = origin.journal;
  assert.equal(requests.length, count);
  const prints = requests.map((seen) => {
    assert.ok(seen.complete && seen.fault === undefined, 'the request arrived whole');
    if (seen.framing === 'length') assert.equal(seen.value('content-length'), String(seen.bodyBytes));
    if (kind.seen !== undefined) return seen.bodySha256;
    assert.ok(seen.body.includes(Buffer.from(bytes)), 'the file is in the form');
    // An encoding of a form may have a boundary of its own: then it is all that differs.
    return sha256(seen.body.toString('latin1').replaceAll(boundaryOf(seen), 'boundary'));
  });
  assert.deepEqual(new Set(prints), new Set([kind.seen === undefined ? prints[0] : sha256(kind.seen(bytes))]));
}

for (const [name, { takes, repeatsLarge, readsEarly, send }] of Object.entries(BODY_SENDERS)) {
  describe(`by ${name}`, () => {
    for (const kindName of takes) {
      const kind: BodyKind = BODY_KINDS[kindName];

      for (const [failure, behaviour] of Object.entries({ 'a 503': BUSY, 'a reset': RESET })) {
        test(`${kindName} after ${failure} goes out again byte for byte`, async (t) => {
          const origin = await startOrigin({ requests: [behaviour, FINE] }, { t });
          const sent = await send(`http://${origin.address}/`, kind.make(BYTES), undefined);
          assert.deepEqual(sent, { status: 200, attemptCount: 2, reason: 'success' });
          assertSame(origin, kind, BYTES, 2);
        });
      }

      test(`${kindName} after a refused connection arrives whole`, async (t) => {
        const origin = await startOrigin(FINE, { t });
        const refusedAt = `http://${(await refusedAddress({ t })).address}`;
        const sent = await send(`http://${origin.address}/`, kind.make(BYTES), refusedAt);
        assert.deepEqual(sent, { status: 200, attemptCount: 2, reason: 'success' });
        assertSame(origin, kind, BYTES, 1);
      });

      const isRepeated = repeatsLarge.includes(kindName);
      test(`${kindName} over the cap goes out ${isRepeated ? 'again byte for byte' : 'once'}`, async (t) => {
        const origin = await startOrigin({ requests: [BUSY, FINE] }, { t });
        const sent = await send(`http://${origin.address}/`, kind.make(LARGE), undefined);
        const again = { status: 200, attemptCount: 2, reason: 'success' };
        const once = { status: 503, attemptCount: 1, reason: 'body-not-replayable' };
        assert.deepEqual(sent, isRepeated ? again : once);
        assertSame(origin, kind, LARGE, isRepeated ? 2 : 1);
      });

      if (kind.isReadOnce === undefined) continue;
      test(`${kindName} over the cap, reset, ends in that failure`, async (t) => {
        const origin = await startOrigin({ requests: [RESET, FINE] }, { t });
        const sent = await send(`http://${origin.address}/`, kind.make(LARGE), undefined);
        assert.deepEqual(sent, { status: 0, attemptCount: 1, reason: 'body-not-replayable' });
        assertSame(origin, kind, LARGE, 1);
      });

      const arrives = readsEarly === undefined;
      test(`${kindName} over the cap after a refused connection ${arrives ? 'arrives whole' : 'is not sent'}`, async (t) => {
        const origin = await startOrigin(FINE, { t });
        const refusedAt = `http://${(await refusedAddress({ t })).address}`;
        const sent = await send(`http://${origin.address}/`, kind.make(LARGE), refusedAt);
        const [status, attemptCount, reason] = arrives ? [200, 2, 'success'] : [0, 1, 'body-not-replayable'];
        assert.deepEqual(sent, { status, attemptCount, reason });
        if (arrives) assertSame(origin, kind, LARGE, 1);
        else assert.equal(origin.requestCount(), 0);
      });
    }
  });
}

test('every kind of body is sent by somebody', () => {
  const taken = new Set<BodyKindName>(Object.values(BODY_SENDERS).flatMap(({ takes }) => takes));
  assert.deepEqual(taken, new Set(Object.keys(BODY_KINDS)));
});
