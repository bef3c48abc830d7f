const PAGES: readonly (readonly [path: string, says: string])[] = [
  ['/healthz', 'the process is alive'],
  ['/readyz', 'requests are taken: 200, or 503 before the start and while draining'],
  ['/metrics', 'metrics for Prometheus'],
  ['/config', 'the configuration in use, secrets hidden'],
  ['/upstreams', 'endpoints, budgets, permits, breakers and connections, as they are now'],
  ['/ownership', 'claims of upstreams and of ours, retries they took away, by route and upstream'],
  ['/events', 'what happens, while it happens: server-sent events; filters ?route= ?upstream= ?type='],
];

/** What there is to see. */
export function indexPage(isWritable: boolean): string {
  const items = PAGES.map(([path, says]) => `<li><a href="${path}">${path}</a>: ${says}</li>`);
  const change = isWritable
    ? 'PUT and DELETE take it out and put it back'
    : 'this interface is read-only until admin.write is set';
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>mulligan admin</title></head>
<body>
<h1>mulligan</h1>
<ul>
${items.join('\n')}
<li>/upstreams/NAME/endpoints/ADDRESS/drain: ${change}</li>
</ul>
</body>
</html>
`;
}
