import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** An HTTP server by others. It answers each request with what it understood, as `describeRequest` writes it. */
export interface Reader {
  readonly port: number;
  close(): Promise<void>;
}

export interface ReaderProgram {
  readonly name: string;
  /** Undefined: it comes with Node. */
  readonly program: string | undefined;
  /** @param echoPort A server to which proxies among the readers pass on what they understood. */
  start(echoPort: number): Promise<Reader>;
}

const startLimitMs = 20_000;

export const readerPrograms: readonly ReaderProgram[] = [
  { name: 'node', program: undefined, start: (port) => Promise.resolve({ port, close: () => Promise.resolve() }) },
  {
    name: 'nginx',
    program: 'nginx',
    start: (echoPort) =>
      run(({ port, folder }) => ({
        files: {
          'nginx.conf': `daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
events { worker_connections 64; }
http { access_log off;
  client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${echoPort}; proxy_http_version 1.1; } } }`,
        },
        command: ['nginx', '-p', folder, '-e', 'stderr', '-c', `${folder}/nginx.conf`],
      })),
  },
  {
    name: 'haproxy',
    program: 'haproxy',
    start: (echoPort) =>
      run(({ port, folder }) => ({
        files: {
          'haproxy.cfg': `defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 5s
frontend in
  bind 127.0.0.1:${port}
  default_backend echo
backend echo
  server echo 127.0.0.1:${echoPort}
`,
        },
        command: ['haproxy', '-db', '-f', `${folder}/haproxy.cfg`],
      })),
  },
  {
    name: 'apache2',
    program: 'apache2',
    start: (echoPort) =>
      run(({ port, folder }) => ({
        files: {
          'apache.conf': `ServerRoot ${folder}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${folder}/pid
ErrorLog ${folder}/error
${['mpm_event', 'authz_core', 'proxy', 'proxy_http'].map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
AllowEncodedSlashes NoDecode
HttpProtocolOptions Strict LenientMethods
ProxyPass / http://127.0.0.1:${echoPort}/ nocanon
`,
        },
        command: ['apache2', '-X', '-f', `${folder}/apache.conf`],
      })),
  },
  {
    name: 'gunicorn',
    program: 'gunicorn',
    start: () =>
      run(({ port, folder }) => ({
        files: {
          'app.py': `import json
def app(environ, start_response):
    body = environ['wsgi.input'].read()
    text = json.dumps({'method': environ['REQUEST_METHOD'], 'target': environ['RAW_URI'], 'body': body.decode('latin-1')}).encode()
    start_response('200 OK', [('Content-Type', 'application/json'), ('Content-Length', str(len(text)))])
    return [text]
`,
        },
        command: [
          'gunicorn',
          '--chdir',
          folder,
          '-b',
          `127.0.0.1:${port}`,
          '-k',
          'gthread',
          '--threads',
          '2',
          '--log-level',
          'critical',
          'app:app',
        ],
      })),
  },
];

/** The server behind the proxies, and the reader that Node is. */
export async function startEcho(): Promise<Reader> {
  const server = createHttpServer(
    { keepAliveTimeout: 30_000 },
    (request: IncomingMessage, response: ServerResponse) => {
      request.setEncoding('latin1');
      let body = '';
      request.on('data', (text: string) => (body += text));
      request.on('end', () => response.end(describeRequest(request.method ?? '', request.url ?? '', body)));
    },
  );
  server.on('checkExpectation', (_request, response) => response.writeHead(417).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

export function describeRequest(method: string, target: string, body: string): string {
  return JSON.stringify({ method, target, body });
}

export function isInstalled(program: string): boolean {
  return `${process.env['PATH'] ?? ''}${delimiter}/usr/sbin`.split(delimiter).some((path) => {
    try {
      accessSync(join(path, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

interface Place {
  readonly port: number;
  readonly folder: string;
}

async function run(
  describe: (place: Place) => { readonly files: Readonly<Record<string, string>>; readonly command: readonly string[] },
): Promise<Reader> {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-reader-'));
  const port = await freePort();
  const { files, command } = describe({ port, folder });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const [program = '', ...args] = command;
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}${delimiter}/usr/sbin` };
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const close = async (): Promise<void> => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  const untilMs = performance.now() + startLimitMs;
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() > untilMs) {
      await close();
      throw new Error(`${program} did not start\n${said}`);
    }
    await wait(50);
  }
  return { port, close };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await gone;
  clearTimeout(timer);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
