import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestRaw } from '../../support/raw-client.ts';
import { gatewayFile, startGateway } from '../../support/running-gateway.ts';
import { startOrigin } from '../../support/scripted-origin.ts';

/** Run by `unreachable.test.ts` in a network namespace where 127.77.0.1 has no route. */
test('an unreachable endpoint is left for the next one, whatever the method', async (t) => {
  const origin = await startOrigin({}, { t });
  const gateway = await startGateway(t, gatewayFile(['127.77.0.1:9', origin.address]));
  assert.equal((await requestRaw(gateway.port, { method: 'POST', body: 'x' })).status, 200);
  assert.equal(origin.requestCount(), 1);
  const { attempts } = await gateway.record();
  assert.equal(attempts[0]?.failure, 'destination_ip_unroutable');
  assert.equal(attempts[0]?.class, 'unsent');
});
