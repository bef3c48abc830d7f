import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ServiceMetrics } from '../../src/service/counters.ts';

export interface AppAnswer {
  readonly status: number;
  readonly claim: string | null;
  readonly text: string;
}

/** An application in a process of its own, with `--import` of the register before it. */
export interface RunningApp {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<AppAnswer>;
  metrics(): Promise<ServiceMetrics | null>;
  /** What it wrote to stderr so far. */
  errors(): string;
  /** Ends it as an orchestrator does, and waits. */
  stop(): Promise<void>;
}

const REGISTER = new URL('../../src/service/register.ts', import.meta.url).href;

export async function startApp(environment: Readonly<Record<string, string>>, cwd?: string): Promise<RunningApp> {
  const app = fileURLToPath(new URL('plain-app.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', REGISTER, app], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd,
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const exited = once(child, 'exit');
  const first = once(createInterface(child.stdout), 'line') as Promise<[string]>;
  const [line] = await Promise.race([
    first,
    exited.then(() => {
      throw new Error(`the application ended: ${errors}`);
    }),
  ]);
  const { port } = JSON.parse(line) as { readonly port: number };
  const get: RunningApp['get'] = async (path, headers = {}) => {
    const response = await fetch(`http://127.0.0.1:${String(port)}${path}`, { headers });
    return { status: response.status, claim: response.headers.get('error-claim'), text: await response.text() };
  };
  return {
    get,
    metrics: async () => JSON.parse((await get('/metrics')).text) as ServiceMetrics | null,
    errors: () => errors,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
