import type { Workspace } from '../harness/workspace.ts';
import type { Placement, Program } from './target.ts';

/** nginx as a proxy: one worker, kept connections both ways, no log. */
export function prepareNginx({ workspace, port, originPort }: Placement): Program {
  return prepareServer(
    workspace,
    'nginx',
    `
  upstream origin {
    server 127.0.0.1:${originPort};
    keepalive 128;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
  }
  server {
    listen 127.0.0.1:${port};
    # Bodies pass as they come, of any size, like through the others.
    client_max_body_size 0;
    proxy_request_buffering off;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    location / { proxy_pass http://origin; }
    location = /large {
      proxy_pass http://origin;
      # The default of 8 buffers of 4 KB would make nginx look slower on 100 KB than anybody who cares runs it.
      proxy_buffer_size 64k;
      proxy_buffers 8 64k;
      proxy_busy_buffers_size 128k;
    }
  }`,
  );
}

/** nginx as the origin of every target: the cheapest one that answers with fields a real service sends. */
export function prepareOrigin(workspace: Workspace, port: number, smallBody: string, largeBody: Uint8Array): Program {
  workspace.write('large', largeBody);
  return prepareServer(
    workspace,
    'origin',
    `
  server {
    listen 127.0.0.1:${port};
    root ${workspace.directory};
    default_type application/octet-stream;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=16 inactive=1h;
    open_file_cache_valid 1h;
    location = /small { return 200 "${smallBody}"; }
    location = /large { }
    location / { return 404; }
  }`,
  );
}

function prepareServer(workspace: Workspace, name: string, servers: string): Program {
  // As root, nginx would run its worker as www-data, which may not enter the temporary directory.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const path = workspace.write(
    `${name}.conf`,
    `${user}
daemon off;
worker_processes 1;
pid ${workspace.directory}/${name}.pid;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${workspace.directory}/${name}-body;
  proxy_temp_path ${workspace.directory}/${name}-proxy;
  fastcgi_temp_path ${workspace.directory}/${name}-fastcgi;
  uwsgi_temp_path ${workspace.directory}/${name}-uwsgi;
  scgi_temp_path ${workspace.directory}/${name}-scgi;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
${servers}
}
`,
  );
  return { file: 'nginx', arguments: ['-e', 'stderr', '-c', path] };
}
