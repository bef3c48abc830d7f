import type { TestContext } from 'node:test';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { createSignal } from '../support/signal.ts';

/** A proxy with the strict listener in front of one origin, whatever the rest of the suite runs on. */
export interface Stage {
  readonly port: number;
  readonly records: readonly AccessRecord[];
  /** The n-th access record (1-based), as soon as it is written. */
  record(number: number): Promise<AccessRecord>;
}

/** @param origin `host:port` */
export async function startStage(t: TestContext, origin: string): Promise<Stage> {
  const signal = createSignal();
  const records: AccessRecord[] = [];
  const proxy = createProxy(
    { selectUpstream: () => origin },
    {
      onRecord(record) {
        records.push(record);
        signal.changed();
      },
      diagnostics: () => {},
    },
  );
  const { address } = await proxy.listen('127.0.0.1:0');
  t.after(() => proxy.close());
  return {
    port: address.port,
    records,
    record: (number) => signal.until(() => records[number - 1], { what: `access record ${number}` }),
  };
}
