import type { Played } from './play-case.ts';
import { attemptWord } from './check-case.ts';
import type { Cell, Scenario, Wire } from './scenario.ts';

/** One cell of the matrix and what came of it. */
export interface PlayedCell {
  readonly cell: Cell;
  readonly played: Played;
}

const introduction = `# The wire matrix

<!-- Written by \`npm run wire:matrix\` from the run of test/wire/matrix.test.ts: change the scenarios there. -->

What happens on the wire when something goes wrong, case by case, as it was seen by clients and origins on real sockets. Each
scenario is played for each method and each pair of protocols that it can happen with: HTTP/1.1 or HTTP/2 between client and
gateway ("in front"), and between gateway and origin ("behind"). Unless a scenario says otherwise the route retries all that may
be retried (\`attempts: 3\`, every kind of failure, 429 and 5xx), so what is not sent again here is sent again by no policy; all
timeouts are the defaults. A test clock carries the time, so that minutes pass at once. Where a row names no protocols it is the
same for all that the scenario is played with.

* *sends*: requests of which each endpoint saw at least a byte, the first endpoint first.
* *client*: the status that it got; *cut*: it can see that the answer is not whole; *–*: no answer.
* *reason*: why there was no further attempt, and the flags of the access record.
* *attempts*: each as its failure and safety class, or as the status of its answer.

Besides what a table says, every case is held to these: a POST without a key is never tried again after an attempt that may have
been processed; each send of a request has the same body and the same key; the origins saw no more requests than the record
has, and the metrics count as many sends; after the end nothing holds a permit, a busy connection or a place in a queue; and after the gateway is closed no timer and
no connection is left.
`;

const elsewhere = `## Shown elsewhere

| what | where |
|---|---|
| S8: no file descriptor or port of our own is left | test/transport/failure-from-error.test.ts: 503, no fault of the upstream, not retried |
| S43: the client leaves while its request waits for a connection | test/e2e/abort.test.ts |
| how soon an origin sees that a client left, in real time | test/wire/abort-delay.test.ts |
| S47 to S50: flapping, all down, slow, chains | test/e2e/circuit.test.ts, exhaustion.test.ts, chaos.test.ts, lineage.test.ts |
| floods of HTTP/2 frames | test/proxy/http2-floods.test.ts |
| bytes through tunnels, both half-closes | test/e2e/upgrade.test.ts, tunnel.test.ts |
`;

/** The document of a run. */
export function writeDocument(
  scenarios: readonly Scenario[],
  played: ReadonlyMap<Scenario, readonly PlayedCell[]>,
): string {
  const sections: string[] = [introduction];
  const families = new Set<string>();
  for (const scenario of scenarios) {
    const { family } = scenario;
    if (family === undefined) {
      sections.push(section(scenario, played.get(scenario)!));
    } else if (!families.has(family)) {
      families.add(family);
      sections.push(
        familySection(
          family,
          scenarios.filter((one) => one.family === family),
          played,
        ),
      );
    }
  }
  sections.push(elsewhere);
  return sections.join('\n');
}

function section({ id, title, rule }: Scenario, cells: readonly PlayedCell[]): string {
  const rows = grouped(cells, outcomeOf).map(
    ([outcome, same]) => `| ${who(same.map(({ cell }) => cell))} | ${outcome} |`,
  );
  return [`## ${id}: ${title}`, '', rule, '', head('asked'), ...rows, ''].join('\n');
}

function familySection(
  family: string,
  scenarios: readonly Scenario[],
  played: ReadonlyMap<Scenario, readonly PlayedCell[]>,
): string {
  const rows = scenarios.flatMap((scenario) =>
    grouped(played.get(scenario)!, outcomeOf).map(
      ([outcome]) => `| ${cellText(scenario.id.slice(scenario.id.indexOf(' ') + 1))} | ${outcome} |`,
    ),
  );
  const [first] = scenarios;
  const cells = played.get(first!)!.map(({ cell }) => cell);
  return [`## ${family}`, '', first!.rule, '', `Asked: ${who(cells)}.`, '', head('what'), ...rows, ''].join('\n');
}

function head(first: string): string {
  return `| ${first} | sends | client | reason, flags | attempts |\n|---|---|---|---|---|`;
}

function outcomeOf({ played: { heard, seen, record } }: PlayedCell): string {
  const sends = seen.map((requests) => requests.length).join(' + ');
  const interim =
    heard.interim.length > 4 ? [`${String(heard.interim.length)} × ${String(heard.interim[0])}`] : heard.interim;
  const status = heard.status === 0 ? '–' : String(heard.status);
  const answer = [...interim, heard.ending === 'cut' ? `${status}, cut` : status].join(', ');
  const reason = [record?.reason ?? '–', ...(record?.flags ?? [])].join(' ');
  const attempts = record?.attempts.map(attemptWord).join(', ') ?? '–';
  return [sends, answer, reason, attempts === '' ? '–' : attempts].map(cellText).join(' | ');
}

function grouped<T>(list: readonly T[], keyOf: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of list) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups];
}

/** The methods, and the protocols where they matter. */
function who(cells: readonly Cell[]): string {
  const byWires = grouped(cells, ({ front, back }) => `${front} ${back}`);
  const byMethods = grouped(byWires, ([, same]) => same.map(({ asked }) => asked).join(', '));
  return byMethods
    .map(([methods, wires]) => {
      const where = wiresText(wires.map(([, same]) => same[0]!));
      return where === '' ? methods : `${methods} (${where})`;
    })
    .join('; ');
}

function wiresText(cells: readonly Cell[]): string {
  const fronts = [...new Set(cells.map(({ front }) => front))];
  const backs = [...new Set(cells.map(({ back }) => back))];
  if (cells.length < fronts.length * backs.length)
    return cells.map(({ front, back }) => `HTTP/${front} in front of HTTP/${back}`).join(', ');
  const name = (wires: readonly Wire[], where: string): string[] =>
    wires.length === 1 ? [`HTTP/${wires[0]!} ${where}`] : [];
  return [...name(fronts, 'in front'), ...name(backs, 'behind')].join(', ');
}

function cellText(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
