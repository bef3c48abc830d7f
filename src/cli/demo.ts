import { Option, type Command } from 'commander';
import { UsageError } from './exit-code.ts';
import type { DemoPart } from './demo/show.ts';

const jsonHelp = `
First seven services in a row, each a process of its own, of which the fourth fails: how many requests each of them gets.
Then a gateway: every request is sent twice, straight to the servers of its scenario in turn, without any retry, and
through it. Ends by itself after about ten seconds. Only 127.0.0.1 is used.

The document of --json:
  durationMs, gateway (host:port), config {path, text, kept}, servers [{name, address, behaviour}]
  requests [{scenario, method, path, idempotencyKey,
             without {server, status, error, retryAfter, durationMs, serverCount},
             with {status, error, retryAfter, durationMs, serverCount, reason, retryCount, waitMs,
                   attempts [{server, endpoint, reused, free, class, status | failure, waitMs, durationMs, …}]}}]
  chain {services, requestCount, modes [{name, servedCounts, expectedCounts, failedCount, untrackedCallCount}]}
  scenarios [{name, trouble, hopeless, …figures}]
  summary {…figures, stopReasons [{reason, count, meaning}]}
  figures: requestCount, unkeyedPostCount, and for each way (without, with): successCount, successRatio,
           serverCount, amplification, unkeyedPostsSeenTwice, alteredCount; for with also retryCount
  serverCount counts arrivals at the servers, by request id; attempts are those of the gateway's access record.`;

/** Adds `mulligan demo`, which `npm start` runs. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('see what mulligan does: servers that misbehave, a gateway in front of them, and real requests')
    .addOption(new Option('--only <part>', 'show one part').choices(['chain', 'gateway']))
    .option('--json', 'print one JSON document')
    .option('--keep', 'stay up after the last request, until SIGINT or SIGTERM, and leave the files')
    .addHelpText('after', jsonHelp)
    .action(async ({ json, keep, only }: { json?: boolean; keep?: boolean; only?: DemoPart }) => {
      if (only === 'chain' && keep === true)
        throw new UsageError('--keep keeps the gateway up: there is none with --only chain');
      const { showDemo } = await import('./demo/show.ts');
      await showDemo({ only, json: json === true, keep: keep === true });
    });
}
