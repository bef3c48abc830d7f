import type { AttemptRecord } from '../../engine/attempt-record.ts';
import { isSuccess } from './figures.ts';
import type { Screen, Tone } from './screen.ts';
import type { Servers } from './servers.ts';
import type { RequestOutcome } from './traffic.ts';

/** The table of requests, line by line as they end. */
export interface RequestTable {
  head(): void;
  add(outcome: RequestOutcome): void;
  /** Says how many more like the last lines there were. */
  endGroup(): void;
}

const widths = { method: 5, path: 14, key: 4, story: 33, client: 7, seen: 5, reason: 21, wait: 4, took: 6 } as const;
/** Lines of the same kind that are shown; further ones are counted. */
const shownAlike = 2;

/** Failures in the fewest words. */
const shortFailures: Readonly<Record<string, string>> = {
  connection_refused: 'refused',
  connection_terminated: 'hung up',
  http_response_incomplete: 'cut off',
};

export function createRequestTable(screen: Screen, servers: Servers): RequestTable {
  let alike = '';
  let alikeCount = 0;
  const endGroup = (): void => {
    const more = alikeCount - shownAlike;
    if (more > 0) screen.line(screen.paint('quiet', `      … and ${more} more like the last one`));
    alikeCount = 0;
    alike = '';
  };
  return {
    head() {
      screen.line(screen.paint('quiet', tableHead));
    },
    add(outcome) {
      const { spec, gateway } = outcome;
      const { record, answer, arrivals } = gateway;
      const story = storyOf(record.attempts, servers);
      const kind = [spec.method, spec.key === undefined, story, answer.status, arrivals.length, record.reason].join();
      if (kind !== alike) endGroup();
      alike = kind;
      alikeCount += 1;
      if (alikeCount > shownAlike) return;
      const client = answer.status === undefined ? 'none' : String(answer.status);
      screen.line(
        [
          spec.method.padEnd(widths.method),
          spec.path.padEnd(widths.path),
          (spec.key === undefined ? '' : 'key').padEnd(widths.key),
          screen.paint(toneOf(outcome), story.padEnd(widths.story)),
          screen.paint(isSuccess(answer) ? 'good' : 'bad', client.padEnd(widths.client)),
          `${arrivals.length}×`.padEnd(widths.seen),
          (record.reason ?? '').padEnd(widths.reason),
          milliseconds(record.retryBackoff).padStart(widths.wait),
          milliseconds(record.durationMs).padStart(widths.took),
        ].join(''),
      );
    },
    endGroup,
  };
}

const tableHead = [
  'REQUEST'.padEnd(widths.method + widths.path),
  'KEY'.padEnd(widths.key),
  'WHAT HAPPENED, SEND BY SEND'.padEnd(widths.story),
  'CLIENT'.padEnd(widths.client),
  'SEEN'.padEnd(widths.seen),
  'STOP REASON'.padEnd(widths.reason),
  'WAIT'.padStart(widths.wait),
  'MS'.padStart(widths.took),
].join('');

/** `closed refused → healthy 200`; a server that is asked again is not named again: `busy 503 → 200`. */
function storyOf(attempts: readonly AttemptRecord[], servers: Servers): string {
  return attempts
    .map(({ endpoint, status, failure = '' }, index) => {
      const outcome = status === undefined ? (shortFailures[failure] ?? failure) : String(status);
      return endpoint === attempts[index - 1]?.endpoint ? outcome : `${servers.nameAt(endpoint)} ${outcome}`;
    })
    .join(' → ');
}

function milliseconds(ms: number): string {
  if (ms === 0) return '';
  return ms < 1 ? '<1' : String(Math.round(ms));
}

function toneOf({ gateway: { answer, record } }: RequestOutcome): Tone {
  if (!isSuccess(answer)) return 'bad';
  return record.retryAttempts > 0 ? 'retried' : 'good';
}
