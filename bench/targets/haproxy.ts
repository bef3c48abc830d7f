import type { Placement, Program } from './target.ts';

/** HAProxy: one thread, every idle connection to the origin is shared by all clients, no log. */
export function prepareHaproxy({ workspace, port, originPort }: Placement): Program {
  const path = workspace.write(
    'haproxy.cfg',
    `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  http-reuse always
  option forwardfor
  timeout connect 1s
  timeout client 600s
  timeout server 600s
  timeout http-keep-alive 600s
frontend proxy
  bind 127.0.0.1:${port}
  default_backend origin
backend origin
  # Between two slices the pool would otherwise be thinned out, and each slice begin with connects.
  server origin 127.0.0.1:${originPort} pool-purge-delay 600s
`,
  );
  return { file: 'haproxy', arguments: ['-db', '-f', path] };
}
