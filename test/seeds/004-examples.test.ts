import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusedAddress } from '../support/addresses.ts';
import { requestRaw } from '../support/raw-client.ts';
import { gatewayFile, startGateway, startRig } from '../support/running-gateway.ts';
import { startOrigin } from '../support/scripted-origin.ts';

describe("the gateway guide's two examples", () => {
  test('codes 5xx, attempts 3, backoff: four sends, three waits, and the last answer is delivered', async (t) => {
    const rig = await startRig(
      t,
      { do: 'respond', status: 502, body: 'from the origin' },
      {
        route: { retry: { codes: [500, 502, 503, 504], attempts: 3, backoff: '20ms', curve: 'fixed', jitter: 'none' } },
      },
    );
    const answer = await requestRaw(rig.gateway.port);
    assert.equal(answer.status, 502);
    assert.equal(answer.text, 'from the origin');
    assert.equal(rig.origin.requestCount(), 4);
    const record = await rig.gateway.record();
    assert.deepEqual(
      record?.attempts.map((attempt) => attempt.waitMs),
      [0, 20, 20, 20],
    );
    assert.equal(record?.retryAttempts, 3);
    assert.equal(record?.retryBackoff, 60);
    assert.equal(record?.reason, 'attempts-exhausted');
  });

  test('no policy: a refused connection is tried once more on another endpoint, whatever the method', async (t) => {
    const refused = await refusedAddress({ t });
    const origin = await startOrigin({ do: 'respond', body: 'ok' }, { t });
    const gateway = await startGateway(t, gatewayFile([refused.address, origin.address]));
    for (let i = 0; i < 20; i += 1) {
      const answer = await requestRaw(gateway.port, { method: 'POST', body: 'order' });
      assert.equal(answer.status, 200);
    }
    assert.equal(origin.requestCount({ method: 'POST' }), 20);
  });
});
