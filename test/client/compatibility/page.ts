import { PEER_SUITES } from './suites.ts';

export const COMPATIBILITY_PAGE = 'docs/compatibility.md';

const HEAD = `# Cases of others, run on ours

<!-- Written by \`npm run compatibility\` from the cases in test/client/compatibility: change them there. -->

The test suites of other retry layers, and the faults that their users reported, as cases: what goes in, what comes out there,
and what comes out here. Each line is a test. Where ours differs on purpose, the last column says why.

Versions: undici 8.13, got 15, ky 2, axios-retry 4.5, the retry strategies of AWS SDK v3, gRPC's proposal A6 and grpc-js 1.13,
Finagle's retry budget, tower 0.5 with reqwest 0.13. An outcome reads *when each attempt was sent; status or failure, and the
reason why nothing more was sent*. Times are exact: those cases run on a clock of their own.
`;

export function compatibilityPage(): string {
  const sections = PEER_SUITES.map(({ title, cases }) => {
    const rows = cases.map(
      ({ name, theirs, ours, why = '' }) => `| ${[name, theirs, ours, why].map(cell).join(' | ')} |`,
    );
    return `## ${title}\n\n| case | theirs | ours | why |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return [HEAD, ...sections].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
