import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LinkOrder, LinkPlan, LinkReading, LinkReply } from './link-plan.ts';

/** A service of a chain in a process of its own. */
export interface LinkProcess {
  readonly name: string;
  readonly url: string;
  /** Gives it a plan; what it counted so far is forgotten. */
  plan(plan: LinkPlan): Promise<void>;
  read(): Promise<LinkReading>;
  /** Ends the process, and waits for that. */
  stop(): Promise<void>;
}

export interface LinkStart {
  readonly name: string;
  /** Whether `mulligan/register` makes it a citizen of error ownership. */
  readonly registered: boolean;
  /** The program. Default: a service on `node:http` that calls by mulligan's client. */
  readonly program?: URL | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Where it runs, and where compiled code is kept, so that the services after the first start faster. */
  readonly cacheFolder?: string | undefined;
}

/** The same modules in a checkout and in the package. */
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const register = new URL(`../../service/register.${extension}`, import.meta.url);
const plainProgram = new URL(`link-main.${extension}`, import.meta.url);

/** What is still running then is told so by the system; far above what a reply takes on a busy machine. */
const REPLY_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 2000;

/**
 * @param signal gives up waiting for it to listen
 * @throws Error when it ends instead of listening, with what it wrote to stderr; the signal's reason when that aborts
 */
export async function startLink(start: LinkStart, signal?: AbortSignal): Promise<LinkProcess> {
  const { name, registered, program = plainProgram, environment = {}, cacheFolder } = start;
  const child = fork(fileURLToPath(program), {
    execArgv: registered ? [`--import=${register.href}`] : [],
    env: {
      ...withoutOurs(process.env),
      ...(registered ? { MULLIGAN_TRUST: '127.0.0.0/8' } : {}),
      ...(cacheFolder === undefined ? {} : { NODE_COMPILE_CACHE: cacheFolder }),
      ...environment,
    },
    // The folder of whoever runs this may have a mulligan.service.yaml of its own.
    cwd: cacheFolder,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4000)));
  const reply = (given?: AbortSignal): Promise<LinkReply> => nextReply(name, child, () => errors, given);
  const ask = async (order: LinkOrder): Promise<LinkReply> => {
    const replied = reply();
    child.send(order);
    return replied;
  };
  try {
    const first = await reply(signal);
    if (first.type !== 'listening') throw new Error(`${name} said '${first.type}' before it listened`);
    return {
      name,
      url: `http://127.0.0.1:${String(first.port)}`,
      async plan(plan) {
        await ask({ type: 'plan', plan });
      },
      async read() {
        const answer = await ask({ type: 'read' });
        if (answer.type !== 'reading') throw new Error(`${name} answered '${answer.type}' when it was to be read`);
        return answer.reading;
      },
      stop: () => stop(child),
    };
  } catch (error) {
    child.kill('SIGKILL');
    await stop(child);
    throw error;
  }
}

/** What is set for the process that runs the chain must not reach the services of it. */
function withoutOurs(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^(?:MULLIGAN_|NODE_OPTIONS$|NODE_USE_ENV_PROXY$)/.test(name)),
  );
}

async function nextReply(
  name: string,
  child: ChildProcess,
  errors: () => string,
  given: AbortSignal | undefined,
): Promise<LinkReply> {
  const settled = new AbortController();
  const { signal } = settled;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(REPLY_LIMIT_MS), ...(given === undefined ? [] : [given])]);
  try {
    return await Promise.race([
      once(child, 'message', { signal: limit }).then(([message]) => message as LinkReply),
      once(child, 'exit', { signal }).then(() => {
        throw new Error(`the service ${name} ended: ${errors() || 'it wrote nothing to stderr'}`);
      }),
    ]);
  } catch (error) {
    given?.throwIfAborted();
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
    throw new Error(`the service ${name} does not answer (${String(REPLY_LIMIT_MS / 1000)} s)`, { cause: error });
  } finally {
    settled.abort();
  }
}

/** It ends by itself when it is let go; one that does not is killed. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await exited;
  clearTimeout(timer);
}
