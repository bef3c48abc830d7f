import type { Scenario } from './scenario.ts';
import type { ServerName } from './servers.ts';

/** The gateway file of the demo: the same text that a user would write for `mulligan serve`. */
export function gatewayText(
  scenarios: readonly Scenario[],
  addressOf: (name: ServerName) => string,
  accessLogPath: string,
): string {
  const upstreams = scenarios.flatMap(({ name, servers, retryBudget }) => {
    const turns = servers.length > 1 ? ', loadBalancing: round-robin' : '';
    const budget = retryBudget === undefined ? [] : [`    retryBudget: ${retryBudget}`];
    const endpoints = `endpoints: [${servers.map(addressOf).join(', ')}]`;
    return budget.length > 0
      ? [`  ${name}:`, `    ${endpoints}${turns}`, ...budget]
      : [`  ${name}: { ${endpoints}${turns} }`];
  });
  const routes = scenarios.flatMap(({ name, retry }) => [
    `  - { match: { path: { prefix: /${name} } }, upstream: ${name}${retry === undefined ? ' }' : ','}`,
    ...(retry === undefined ? [] : [`      retry: ${retry} }`]),
  ]);
  const lines = ['listeners: [{ address: 127.0.0.1:0 }]', 'upstreams:', ...upstreams, 'routes:', ...routes];
  return `${lines.join('\n')}\naccessLog: { path: ${JSON.stringify(accessLogPath)} }\n`;
}
