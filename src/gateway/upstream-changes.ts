import type { UpstreamChange } from '../engine/upstream.ts';
import type { TaskServices } from './upstream-tasks.ts';

/** Tells on what an upstream finds out about its circuits and endpoints: to people, and to whoever listens to events. */
export function tellChange(change: UpstreamChange, { clock, say, tell }: TaskServices): void {
  say(describeChange(change));
  tell({ ...change, atMs: clock.wallMs() });
}

function describeChange(change: UpstreamChange): string {
  const { upstream } = change;
  switch (change.type) {
    case 'breaker-changed':
      return `upstream ${upstream}: the circuit of ${change.operation ?? 'all requests'} is ${change.to}, it was ${change.from}`;
    case 'endpoint-ejected':
      return `upstream ${upstream}: ${change.endpoint} is ejected for ${change.forMs} ms: ${change.why}`;
    case 'endpoint-returned':
      return `upstream ${upstream}: ${change.endpoint} is back after its ejection`;
  }
}
