import { isSuccess } from './figures.ts';
import { createRequestTable } from './request-table.ts';
import type { Screen } from './screen.ts';
import type { ServerName } from './servers.ts';
import { behaviours } from './servers.ts';
import type { Stage } from './stage.ts';
import { printSummary } from './summary.ts';
import type { RequestOutcome, Spectator } from './traffic.ts';
import { requestCount } from './traffic.ts';

/** Tells people the story, as it happens. */
export interface Narrator extends Spectator {
  introduce(): void;
  conclude(outcomes: readonly RequestOutcome[], durationMs: number): void;
}

const barLength = 24;

export function createNarrator(screen: Screen, stage: Stage, keep: boolean): Narrator {
  const { line, paint } = screen;
  const { servers, configPath, configText, gatewayAddress } = stage;
  const table = createRequestTable(screen, servers);
  let tableBegun = false;

  return {
    introduce() {
      line(
        `${paint('strong', 'A gateway:')} real servers that misbehave, the gateway in front of them, real requests.`,
      );
      line();
      for (const [name, behaviour] of Object.entries(behaviours)) {
        const address = servers.addressOf(name as ServerName);
        line(`  ${name.padEnd(10)}${address.padEnd(17)}${paint('quiet', behaviour)}`);
      }
      line(`  ${paint('strong', 'gateway')}   ${gatewayAddress.padEnd(17)}${paint('quiet', 'made from this file:')}`);
      line();
      line(`  ${configPath}${paint('quiet', keep ? ' (it stays)' : ' (removed at the end; --keep leaves it)')}`);
      for (const text of configText.trimEnd().split('\n')) line(paint('quiet', `  │ ${text}`));
      line();
    },
    sending(way, number, { method, path }) {
      const filled = Math.round((number / requestCount) * barLength);
      const bar = `${'█'.repeat(filled)}${'░'.repeat(barLength - filled)}`;
      const what = way === 'direct' ? 'without mulligan' : 'with mulligan';
      screen.progress(`${bar} ${number}/${requestCount} ${what}: ${method} ${path} …`);
    },
    directDone(outcomes) {
      const successCount = outcomes.filter(({ answer }) => isSuccess(answer)).length;
      line(`1. Without mulligan: ${requestCount} requests straight to the servers, in turn, no retries.`);
      line(`   ${successCount} of ${requestCount} clients got what they asked for.`);
      line();
      line('2. With mulligan: the same requests through the gateway, one after another.');
    },
    scenarioBegins({ trouble, rule }) {
      table.endGroup();
      line();
      line(paint('strong', trouble));
      line(rule);
      if (!tableBegun) {
        line(paint('quiet', 'SEEN: how often the request arrived at servers; WAIT and MS: milliseconds.'));
        table.head();
      }
      tableBegun = true;
    },
    gatewayDone: (outcome) => table.add(outcome),
    conclude(outcomes, durationMs) {
      table.endGroup();
      line();
      printSummary(screen, outcomes);
      line();
      if (keep) inviteToStay();
      else {
        const seconds = (durationMs / 1000).toFixed(1);
        line(
          paint(
            'quiet',
            `Took ${seconds} s. Add --keep to try it with curl (npm start -- --keep), --json for machines.`,
          ),
        );
      }
    },
  };

  function inviteToStay(): void {
    const url = `http://${gatewayAddress}`;
    line(`${paint('strong', 'The gateway stays up')} at ${url} until Ctrl-C. Try, each one twice:`);
    line();
    line(`  curl -i ${url}/down/x`);
    line(`  curl -i -d tea ${url}/crash/x`);
    line(`  curl -i -d tea -H 'Idempotency-Key: k1' ${url}/crash/x`);
    line(`  curl -i ${url}/busy/soon`);
    line(`  tail -f ${stage.accessLogPath}`);
  }
}
