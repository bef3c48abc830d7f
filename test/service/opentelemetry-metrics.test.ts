import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import {
  metrics,
  type BatchObservableCallback,
  type Meter,
  type MeterProvider,
  type Observable,
} from '@opentelemetry/api';
import { outboundTracker } from '../../src/engine/outbound-tracking.ts';
import { installService, type InstalledService } from '../../src/service/install.ts';
import { observeService } from '../../src/service/observe-service.ts';
import { servicePrometheusText } from '../../src/service/prometheus-text.ts';

/** A meter as an SDK gives one: it keeps what it is told, and reads when it is asked to. */
class FakeMeter {
  readonly units = new Map<string, string | undefined>();
  readonly #names = new Map<Observable, string>();
  readonly #callbacks = new Set<BatchObservableCallback>();

  #create(name: string, unit: string | undefined): Observable {
    const observable = { addCallback() {}, removeCallback() {} };
    this.units.set(name, unit);
    this.#names.set(observable, name);
    return observable;
  }

  createObservableCounter(name: string, options: { readonly unit: string }): Observable {
    return this.#create(name, options.unit);
  }

  createObservableGauge(name: string, options: { readonly unit: string }): Observable {
    return this.#create(name, options.unit);
  }

  addBatchObservableCallback(callback: BatchObservableCallback): void {
    this.#callbacks.add(callback);
  }

  removeBatchObservableCallback(callback: BatchObservableCallback): void {
    this.#callbacks.delete(callback);
  }

  /** `mulligan.service.calls{callee=…}` and its value. */
  read(): Map<string, number> {
    const values = new Map<string, number>();
    const observe = (observable: Observable, value: number, attributes = {}): void => {
      const labels = Object.entries(attributes).map(([name, text]) => `${name}=${String(text)}`);
      values.set(`${this.#names.get(observable)!}{${labels.join(',')}}`, value);
    };
    for (const callback of this.#callbacks) void callback({ observe });
    return values;
  }
}

let installed: InstalledService | undefined;

afterEach(() => {
  installed?.uninstall();
  installed = undefined;
  metrics.disable();
});

function callOnce(): void {
  const call = outboundTracker()!.begin({ method: 'GET', url: 'http://stock/items' });
  call.note({ claim: undefined, retried: true });
  call.note({ claim: undefined, retried: false, stopped: 'budget-exhausted' });
  call.end({ atMs: 0, outcomeClass: 'server', claim: undefined, handled: true, effect: undefined });
}

const EDGE = 'inbound=none,callee=GET stock/items';

test('a meter reads what was counted, by edge and by reason, with units', () => {
  installed = installService({}, { servers: false });
  const meter = new FakeMeter();
  const stop = observeService(meter as unknown as Meter);
  callOnce();
  const values = meter.read();
  assert.equal(values.get(`mulligan.service.calls{${EDGE}}`), 1);
  assert.equal(values.get(`mulligan.service.retries{${EDGE}}`), 1);
  assert.equal(values.get(`mulligan.service.retries_suppressed{${EDGE},reason=budget-exhausted}`), 1);
  assert.equal(values.get('mulligan.service.calls_untracked{}'), 1);
  assert.equal(meter.units.get('mulligan.service.calls'), '{call}');
  stop();
  assert.equal(meter.read().size, 0);
});

test('a meter without a service reads nothing', () => {
  const meter = new FakeMeter();
  const stop = observeService(meter as unknown as Meter);
  assert.equal(meter.read().size, 0);
  stop();
});

const provider = (meter: FakeMeter): MeterProvider => ({ getMeter: () => meter as unknown as Meter });

test('an OpenTelemetry that the application registered before is found through what its API keeps', () => {
  const meter = new FakeMeter();
  metrics.setGlobalMeterProvider(provider(meter));
  installed = installService({}, { servers: false });
  callOnce();
  assert.equal(meter.read().get(`mulligan.service.calls{${EDGE}}`), 1);
  installed.uninstall();
  assert.equal(meter.read().size, 0);
});

test('one that is registered later is found within a second', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  installed = installService({}, { servers: false });
  const meter = new FakeMeter();
  metrics.setGlobalMeterProvider(provider(meter));
  context.mock.timers.tick(1000);
  callOnce();
  assert.equal(meter.read().get(`mulligan.service.calls{${EDGE}}`), 1);
});

test('where the settings say so nobody looks for one', () => {
  const meter = new FakeMeter();
  metrics.setGlobalMeterProvider(provider(meter));
  installed = installService({ openTelemetry: false }, { servers: false });
  assert.equal(meter.units.size, 0);
});

test('a meter that throws is told of, and the service is installed', () => {
  const lines: string[] = [];
  metrics.setGlobalMeterProvider({
    getMeter() {
      throw new Error('no meter today');
    },
  });
  installed = installService({}, { servers: false, tell: (line) => lines.push(line) });
  assert.deepEqual(installed.metrics().hookFaults, { opentelemetry: 1 });
  assert.match(lines.join('\n'), /opentelemetry failed \(Error: no meter today\)/);
});

test('what OpenTelemetry reads and what Prometheus reads is the same', async () => {
  installed = installService({}, { servers: false });
  const meter = new FakeMeter();
  const stop = observeService(meter as unknown as Meter);
  const families = [...(await servicePrometheusText()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  assert.deepEqual(
    families,
    Array.from(meter.units.keys(), (name) => name.replaceAll('.', '_').replace(/(?<!storm_radius)$/, '_total')),
  );
  stop();
});
