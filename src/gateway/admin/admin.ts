import type { AdminConfig } from '../../config/gateway-config.ts';
import type { EventChannel, MulliganEvent } from '../../core/observer.ts';
import type { AccessRecord } from '../../proxy/access-record.ts';
import type { GatewayReading } from '../../telemetry/live-reading.ts';
import { RequestMeter } from '../../telemetry/request-meter.ts';
import type { Clock } from '../../transport/clock.ts';
import type { AdminServer } from './admin-server.ts';
import { EventHub } from './event-hub.ts';
import type { AdminCounts, LiveGateway } from './live-gateway.ts';
import { readGateway } from './live-gateway.ts';
import { readSecret } from './secret.ts';

export interface AdminOptions {
  readonly live: () => LiveGateway;
  readonly clock: Clock;
  readonly onError: (message: string) => void;
}

/** The new settings are ready: `commit` takes them into use, `undo` forgets them. */
export interface PreparedAdmin {
  commit(): void;
  undo(): void;
}

interface OpenAdmin {
  readonly config: AdminConfig;
  readonly token: string | undefined;
  readonly server: AdminServer;
}

/**
 * The admin interface of a gateway through all its configurations. While none is configured, no request is counted and
 * the modules behind it are not loaded.
 */
export class Admin implements EventChannel {
  readonly #options: AdminOptions;
  readonly #hub = new EventHub();
  #meter: RequestMeter | undefined;
  #open: OpenAdmin | undefined;
  #acceptedCount = 0;
  #refusedCount = 0;
  #changedAtMs: number;

  constructor(options: AdminOptions) {
    this.#options = options;
    this.#changedAtMs = options.clock.wallMs();
  }

  /** `host:port` with the real port; undefined while there is none. */
  get address(): string | undefined {
    return this.#open?.server.address;
  }

  get active(): boolean {
    return this.#hub.active;
  }

  publish(event: MulliganEvent): void {
    this.#meter?.told(event);
    this.#hub.publish(event);
  }

  /** A request ended. */
  record(record: AccessRecord): void {
    this.#meter?.record(record, this.#options.clock.nowMs());
  }

  /** Another configuration was taken into use, or refused: `why`. */
  reloaded(why?: string): void {
    const atMs = this.#options.clock.wallMs();
    if (why === undefined) {
      this.#acceptedCount += 1;
      this.#changedAtMs = atMs;
    } else this.#refusedCount += 1;
    this.publish({ type: 'config-reloaded', atMs, accepted: why === undefined, why });
  }

  drainBegan(delayMs: number): void {
    this.publish({ type: 'drain-began', atMs: this.#options.clock.wallMs(), delayMs });
  }

  /**
   * Opens what is new. An address that stays keeps its listener and its readers of events.
   * @throws ListenError when the address cannot be opened, Error when the token cannot be read; nothing has changed then
   */
  async prepare(config: AdminConfig | undefined): Promise<PreparedAdmin> {
    const before = this.#open;
    if (config === undefined) return { commit: () => this.#replace(undefined), undo: () => {} };
    const token = config.token === undefined ? undefined : readSecret(config.token, 'admin.token');
    const isKept = before !== undefined && before.config.address.key === config.address.key;
    const server = isKept ? before.server : await this.#listen({ config, token });
    return {
      commit: () => this.#replace({ config, token, server }),
      undo: () => {
        if (isKept) return;
        server.close();
        if (before === undefined) this.#meter = undefined;
      },
    };
  }

  close(): void {
    this.#replace(undefined);
  }

  #replace(next: OpenAdmin | undefined): void {
    const before = this.#open;
    this.#open = next;
    if (next === undefined) this.#meter = undefined;
    if (before === undefined || before.server === next?.server) return;
    this.#hub.endAll();
    before.server.close();
  }

  async #listen(settings: Omit<OpenAdmin, 'server'>): Promise<AdminServer> {
    const { live, clock, onError } = this.#options;
    // Loaded here, not with the gateway: together they cost as much memory as the rest of it.
    const [{ openAdminServer }, { createResources }, { EventStream }, { createPrometheus }] = await Promise.all([
      import('./admin-server.ts'),
      import('./resources.ts'),
      import('./event-stream.ts'),
      import('../../telemetry/prometheus.ts'),
    ]);
    const meter = (this.#meter ??= new RequestMeter());
    const current = (): Omit<OpenAdmin, 'server'> => this.#open ?? settings;
    const read = (): GatewayReading => readGateway(live(), this.#counts(), clock.nowMs());
    return openAdminServer({
      address: settings.config.address,
      guard() {
        const { config, token } = current();
        return { boundHost: config.address.host, hosts: config.hosts, token };
      },
      resourceAt: createResources({
        live,
        read,
        meter,
        prometheus: createPrometheus({ meter, read, nowMs: () => clock.nowMs() }),
        stream: new EventStream(this.#hub, clock),
        events: this.#hub,
        clock,
        isWritable: () => current().config.write,
      }),
      onError,
    });
  }

  #counts(): AdminCounts {
    const { readerCount, droppedReaderCount } = this.#hub;
    return {
      events: { readerCount, droppedReaderCount },
      reloads: {
        acceptedCount: this.#acceptedCount,
        refusedCount: this.#refusedCount,
        changedAtMs: this.#changedAtMs,
      },
    };
  }
}
