import { isDeepStrictEqual } from 'node:util';
import type { ListenerConfig } from '../config/gateway-config.ts';
import type { Listener } from '../proxy/downstream.ts';
import type { Proxy } from '../proxy/proxy.ts';
import type { ListenerTls } from '../proxy/listener/tls-settings.ts';
import type { Clock } from '../transport/clock.ts';
import { isSameKindOfTls, readListenerTls } from './listener-tls.ts';

/** An address could not be opened. The message says which one, why, and what to do. */
export class ListenError extends Error {
  readonly code: string;

  constructor(address: string, cause: unknown) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    super(`cannot listen on ${address}: ${ADVICE[code] ?? (cause instanceof Error ? cause.message : String(cause))}`, {
      cause,
    });
    this.name = 'ListenError';
    this.code = code;
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is in use (EADDRINUSE); stop the other process, or choose another port',
  EACCES: 'not permitted (EACCES); ports below 1024 need privileges, choose a higher one',
  EADDRNOTAVAIL: 'this machine has no such address (EADDRNOTAVAIL); use one of its own, or 0.0.0.0 for all',
  ENOTFOUND: 'the host name is not known (ENOTFOUND); use an IP address',
};

interface OpenListener {
  readonly config: ListenerConfig;
  /** What was in the files when they were last read. */
  readonly tls: ListenerTls | undefined;
  readonly listener: Listener;
}

/** The open addresses of a gateway, brought in line with a configuration. */
export interface ListenerSet {
  /** `host:port` with the real ports, in the order of the configuration. */
  readonly addresses: readonly string[];
  /** Client connections, also those of listeners that are no longer open. */
  readonly connectionCount: number;
  /**
   * Opens what is new; then `commit` takes the new set into use and drains what is gone, and `undo` closes what was opened.
   * @throws ListenError when an address cannot be opened; nothing has changed then
   */
  prepare(wanted: readonly ListenerConfig[]): Promise<{ commit(graceMs: number): void; undo(): Promise<void> }>;
}

export function createListenerSet(proxy: Proxy, clock: Clock): ListenerSet {
  let open: readonly OpenListener[] = [];
  let retired: readonly Listener[] = [];

  async function listen(config: ListenerConfig): Promise<OpenListener> {
    try {
      const { address, server, limits, name } = config;
      const { host, port } = address;
      const tls = readListenerTls(config.tls);
      return { config, tls, listener: await proxy.listen({ host, port }, { server, limits, name, tls }) };
    } catch (error) {
      throw new ListenError(config.address.key, error);
    }
  }

  return {
    get addresses() {
      return open.map(({ listener }) => addressText(listener));
    },
    get connectionCount() {
      return [...open.map(({ listener }) => listener), ...retired].reduce(
        (sum, { connectionCount }) => sum + connectionCount,
        0,
      );
    },
    async prepare(wanted) {
      const kept = [...open];
      const next = takeOver(kept, wanted);
      const fresh: OpenListener[] = [];
      const stopped: OpenListener[] = [];
      let undoCertificates = (): void => {};
      const undo = async (): Promise<void> => {
        undoCertificates();
        await Promise.all(fresh.map(({ listener }) => listener.close()));
        // Addresses given up for new settings of the same address come back with the old ones.
        const again = await Promise.allSettled(stopped.map(({ config }) => listen(config)));
        open = open.flatMap((one) => {
          const index = stopped.indexOf(one);
          if (index === -1) return [one];
          const result = again[index];
          return result?.status === 'fulfilled' ? [result.value] : [];
        });
      };
      try {
        for (const [index, config] of wanted.entries()) {
          if (next[index] !== undefined) continue;
          // An address is bound once: another server for it means a moment in which new connections are refused.
          const same = kept.find(
            (one) =>
              one.config.address.port !== 0 && one.config.address.key === config.address.key && !stopped.includes(one),
          );
          if (same !== undefined) {
            same.listener.drain();
            stopped.push(same);
          }
          const opened = await listen(config);
          fresh.push(opened);
          next[index] = opened;
        }
        undoCertificates = renewCertificates(next);
      } catch (error) {
        await undo();
        throw error;
      }
      return {
        undo,
        commit(graceMs) {
          open = next.filter((one) => one !== undefined).map(withOwnLimits);
          const gone = kept.map(({ listener }) => listener);
          for (const listener of gone) retire(listener, graceMs, clock);
          retired = [...retired.filter(({ connectionCount }) => connectionCount > 0), ...gone];
        },
      };
    },
  };
}

/** Takes from `kept` what goes on listening: the same settings first, then the same server on the same address. */
function takeOver(kept: OpenListener[], wanted: readonly ListenerConfig[]): (OpenListener | undefined)[] {
  const take = (fits: (config: ListenerConfig) => boolean, config: ListenerConfig): OpenListener | undefined => {
    const index = kept.findIndex((candidate) => fits(candidate.config));
    const [found] = index === -1 ? [] : kept.splice(index, 1);
    return found === undefined ? undefined : { ...found, config };
  };
  const same = wanted.map((config) => take((other) => isDeepStrictEqual(other, config), config));
  return wanted.map((config, index) => same[index] ?? take((other) => canGoOver(other, config), config));
}

/** Limits change while it is open, and certificates, too. */
function canGoOver(from: ListenerConfig, to: ListenerConfig): boolean {
  const { limits, tls } = to;
  return isSameKindOfTls(from.tls, tls) && isDeepStrictEqual({ ...from, limits, tls }, { ...to, limits, tls });
}

/**
 * Shows what is in the files now. Returns what takes it back.
 * @throws ListenError when a file cannot serve; nothing has changed then
 */
function renewCertificates(listeners: (OpenListener | undefined)[]): () => void {
  const before: OpenListener[] = [];
  const undo = (): void => {
    for (const { listener, tls } of before) if (tls !== undefined) listener.setTls(tls);
  };
  for (const [index, one] of listeners.entries()) {
    if (one?.config.tls === undefined) continue;
    try {
      const tls = readListenerTls(one.config.tls);
      if (tls === undefined || isDeepStrictEqual(tls, one.tls)) continue;
      one.listener.setTls(tls);
      before.push(one);
      listeners[index] = { ...one, tls };
    } catch (error) {
      undo();
      throw new ListenError(one.config.address.key, error);
    }
  }
  return undo;
}

function withOwnLimits(one: OpenListener): OpenListener {
  one.listener.setLimits(one.config.limits);
  return one;
}

function retire(listener: Listener, graceMs: number, clock: Clock): void {
  listener.drain();
  clock.setTimer(graceMs, () => void listener.close()).unref();
}

function addressText({ address: { host, port } }: Listener): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
