import type { Attributes, BatchObservableResult, Meter, MeterProvider, Observable } from '@opentelemetry/api';
import type { ServiceMetrics } from './counters.ts';
import { SERVICE_FAMILIES, type ServiceFamily } from './metric-families.ts';

/** Lets a meter read what is counted, whenever it reads. @returns takes it away from the meter */
export function observeMetrics(meter: Meter, metrics: () => ServiceMetrics | undefined): () => void {
  const observed = SERVICE_FAMILIES.map((family): readonly [ServiceFamily, Observable] => {
    const name = `mulligan.service.${family.name}`;
    const options = { description: family.help, unit: family.unit };
    return [
      family,
      family.type === 'gauge'
        ? meter.createObservableGauge(name, options)
        : meter.createObservableCounter(name, options),
    ];
  });
  // One reading for all of them, so that they fit together.
  const read = (result: BatchObservableResult): void => {
    const now = metrics();
    if (now === undefined) return;
    for (const [family, observable] of observed) {
      for (const [values, count] of family.read(now)) {
        const attributes: Attributes = {};
        family.labels.forEach((label, index) => (attributes[label] = values[index]));
        result.observe(observable, count, attributes);
      }
    }
  };
  const observables = observed.map(([, observable]) => observable);
  meter.addBatchObservableCallback(read, observables);
  return () => meter.removeBatchObservableCallback(read, observables);
}

/** Where every version 1 of the OpenTelemetry API keeps what an application registered with it. */
const API = Symbol.for('opentelemetry.js.api.1');

const LOOK_EVERY_MS = 1000;
/** An SDK is set up at the start of a process, before it serves; later than this nobody looks for it. */
const LOOK_COUNT = 120;

/**
 * Waits for a `MeterProvider` to be registered, and gives it what is counted. The API itself is not loaded: a process that
 * has none pays for a look at one property a second, for two minutes. It is also the application's own copy then, whatever
 * its version.
 */
export function awaitOpenTelemetry(metrics: () => ServiceMetrics, run: (act: () => void) => void): () => void {
  let takeBack = (): void => {};
  const look = (): boolean => {
    const provider = (globalThis as { [API]?: { readonly metrics?: MeterProvider } })[API]?.metrics;
    if (provider === undefined) return false;
    run(() => {
      takeBack = observeMetrics(provider.getMeter('mulligan'), metrics);
    });
    return true;
  };
  if (look()) return () => takeBack();
  let left = LOOK_COUNT;
  const timer = setInterval(() => {
    left -= 1;
    if (look() || left === 0) clearInterval(timer);
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    takeBack();
  };
}
