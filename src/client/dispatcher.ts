import { Dispatcher, errors } from 'undici';
import { createSystemClock } from '../transport/system-time.ts';
import type { Clock } from '../transport/clock.ts';
import { Client } from './client.ts';
import type { Call } from './client.ts';
import type { ClientOptions } from './client-options.ts';
import { readHandler } from './dispatch-handler.ts';
import type { RequestHandler } from './dispatch-handler.ts';
import type { DispatchOptions } from './dispatch-request.ts';
import { createUpgradeAgent } from './upgrade-agent.ts';

type Callback = () => void;

/**
 * An undici dispatcher whose requests are retried, failed over and bounded by our one loop over our own connections. It
 * may be given wherever undici takes one: `request`, `stream`, `fetch`, `setGlobalDispatcher`, `compose`.
 * @throws RangeError or TypeError for an option, naming it
 */
export function createDispatcher(options: ClientOptions = {}): Dispatcher {
  return new ClientDispatcher(options, createSystemClock(), Math.random);
}

/** @internal What `createDispatcher` gives, with time and chance as arguments. */
export class ClientDispatcher extends Dispatcher {
  readonly client: Client;
  // Not `#names`: `compose` gives a Proxy of this dispatcher, and a method that is called on that has no way to them.
  private readonly options: ClientOptions;
  /** Made when there is something for it. */
  private upgrades: Dispatcher | undefined;
  private closing: Promise<void> | undefined;
  private destroying: Promise<void> | undefined;

  constructor(options: ClientOptions, clock: Clock, random: () => number) {
    super();
    this.options = options;
    this.client = new Client(options, clock, random, (origin) => this.emit('drain', origin));
  }

  get closed(): boolean {
    return this.closing !== undefined;
  }

  get destroyed(): boolean {
    return this.destroying !== undefined;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.dispatchCall(options, handler, undefined);
  }

  /** As `dispatch`, for a request that is part of a call. */
  dispatchCall(options: DispatchOptions, handler: Dispatcher.DispatchHandler, call: Call | undefined): boolean {
    if (options === null || typeof options !== 'object')
      throw new errors.InvalidArgumentError('opts must be an object.');
    const isTunnel = Boolean(options.upgrade) || options.method === 'CONNECT';
    const reader = readHandler(handler, isTunnel);
    try {
      // undici before its version 8 hands its own options on as they are.
      if (options.dispatcher !== undefined && options.dispatcher !== this)
        throw new errors.InvalidArgumentError('opts.dispatcher is for the functions of undici, not for a dispatcher');
      if (this.destroyed) throw new errors.ClientDestroyedError();
      if (this.closed) throw new errors.ClientClosedError();
      if (isTunnel) return this.tunnel(options, reader);
      return this.client.send(options, reader, call);
    } catch (error) {
      // Delivered, not thrown: whoever waits for the handler would otherwise wait for ever.
      reader.onResponseError(null as unknown as Dispatcher.DispatchController, error as Error);
      return true;
    }
  }

  private tunnel(options: DispatchOptions, handler: RequestHandler): boolean {
    const { tls = {}, proxy = 'environment' } = this.options;
    this.upgrades ??= createUpgradeAgent(tls, proxy);
    return this.upgrades.dispatch(options as Dispatcher.DispatchOptions, handler);
  }

  /** No new requests; resolves when those under way have ended, retries and their waits included. */
  override close(): Promise<void>;
  override close(callback: Callback): void;
  override close(callback?: Callback): Promise<void> | void {
    this.closing ??= this.destroying ?? this.closeAll();
    return settled(this.closing, callback);
  }

  /** Ends every request under way with this error, waits included; resolves when no connection is left. */
  override destroy(): Promise<void>;
  override destroy(error: Error | null): Promise<void>;
  override destroy(callback: Callback): void;
  override destroy(error: Error | null, callback: Callback): void;
  override destroy(first?: Error | Callback | null, second?: Callback): Promise<void> | void {
    const error = typeof first === 'function' ? undefined : first;
    this.destroying ??= this.destroyAll(error ?? new errors.ClientDestroyedError());
    return settled(this.destroying, typeof first === 'function' ? first : second);
  }

  private async closeAll(): Promise<void> {
    await Promise.all([this.client.close(), this.upgrades?.close()]);
  }

  private async destroyAll(reason: Error): Promise<void> {
    await Promise.all([this.client.destroy(reason), this.upgrades?.destroy(reason)]);
  }
}

function settled(ending: Promise<void>, callback: Callback | undefined): Promise<void> | void {
  if (callback === undefined) return ending;
  void ending.then(callback);
}
