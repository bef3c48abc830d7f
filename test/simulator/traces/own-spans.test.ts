import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { readSource } from '../../../src/simulator/read-source.ts';
// Before leaks are looked for: the SDK opens standard input when it is loaded, once a process.
import '../../../src/telemetry/opentelemetry.ts';
import { liveConfig, startLive } from '../../gateway/live-gateway.ts';
import { startCollector } from '../../support/collector.ts';
import { requestRaw } from '../../support/raw-client.ts';
import { startOrigin } from '../../support/scripted-origin.ts';
import { drawn } from './support.ts';

test('the spans that a gateway of ours sends are read back as its routes, upstreams and retries', async (t) => {
  const origin = await startOrigin([{ do: 'respond', status: 503 }, { do: 'respond' }], { t });
  const collector = await startCollector({ t });
  const live = await startLive(
    t,
    liveConfig({
      upstreams: { orders: { endpoints: [origin.address] } },
      routes: [{ name: 'shop', upstream: 'orders', retry: { attempts: 2, codes: [503], backoff: '1ms' } }],
      shutdown: { drain: '10s' },
      tracing: { otlp: collector.url, service: 'edge' },
    }),
  );
  const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  equal((await requestRaw(live.address, { target: '/', headers })).status, 200);
  ok(await live.gateway.drain());
  const reading = readSource(collector.texts.join('\n'), 'spans.jsonl');
  ok(reading.ok, reading.ok ? '' : JSON.stringify(reading.faults));
  deepEqual(drawn(reading.source), ['edge/GET-shop -> orders/GET retries=1']);
  equal(reading.source.topology.operations.find(({ name }) => name === 'orders/GET')?.errorRatio, 0.5);
});
