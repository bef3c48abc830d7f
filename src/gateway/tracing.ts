import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { SecretSource, TracingConfig } from '../config/gateway-config.ts';
import type { Diagnostics } from '../proxy/proxy-state.ts';
import type { ArrivedRequest, RequestTrace, Tracing } from '../proxy/request-trace.ts';
import type { OpenTelemetry } from '../telemetry/opentelemetry.ts';
import type { Clock } from '../transport/clock.ts';

/** The new settings are ready: `commit` takes them into use. Until then nothing has changed. */
export interface PreparedTracing {
  commit(): void;
}

interface OpenTracing {
  readonly config: TracingConfig;
  readonly headers: Readonly<Record<string, string>>;
  readonly telemetry: OpenTelemetry;
}

/** A collector that is away for a night is one line a minute, not one a batch. */
const SAY_EVERY_MS = 60_000;

/** The traces of a gateway through all its configurations. While none is configured, the modules behind them are not loaded. */
export class GatewayTracing implements Tracing {
  readonly #clock: Clock;
  readonly #diagnostics: Diagnostics | undefined;
  #open: OpenTracing | undefined;
  /** Replaced by a reload, with requests or spans of theirs still under way. */
  readonly #retired = new Set<OpenTelemetry>();
  #saidAtMs = -Infinity;
  #lostCount = 0;

  constructor(clock: Clock, diagnostics: Diagnostics | undefined) {
    this.#clock = clock;
    this.#diagnostics = diagnostics;
  }

  get active(): boolean {
    return this.#open !== undefined;
  }

  /** Spans that did not reach a collector, since the gateway was made. */
  get lostCount(): number {
    return this.#lostCount;
  }

  begin(request: ArrivedRequest): RequestTrace | undefined {
    return this.#open?.telemetry.begin(request);
  }

  /** @throws Error when the value of a header cannot be read */
  async prepare(config: TracingConfig | undefined): Promise<PreparedTracing> {
    if (config === undefined) return { commit: () => this.#replace(undefined) };
    const headers = Object.fromEntries(config.headers.map(({ name, source }) => [name, readValue(name, source)]));
    const before = this.#open;
    if (before !== undefined && isDeepStrictEqual([before.config, before.headers], [config, headers]))
      return { commit: () => {} };
    // Loaded here, not with the gateway: together they cost as much memory as the rest of it.
    const { createOpenTelemetry } = await import('../telemetry/opentelemetry.ts');
    const telemetry = createOpenTelemetry({
      url: config.collectorUrl,
      headers,
      service: config.service,
      sampling: config.sampling,
      onLost: (why, count) => this.#lose(config, why, count),
    });
    return { commit: () => this.#replace({ config, headers, telemetry }) };
  }

  /** Sends what is waiting; resolves when that is done, at the latest after `withinMs`. */
  async flush(withinMs: number): Promise<void> {
    const telemetry = this.#open?.telemetry;
    if (telemetry === undefined || withinMs <= 0) return;
    let timer;
    const late = new Promise<void>((resolve) => {
      timer = this.#clock.setTimer(withinMs, resolve);
    });
    await Promise.race([telemetry.flush(), late]);
    timer!.cancel();
  }

  /** Ends connections to the collector; what was not sent is lost. */
  close(): void {
    for (const telemetry of this.#retired) telemetry.cut();
    this.#open?.telemetry.cut();
    this.#open = undefined;
  }

  #replace(next: OpenTracing | undefined): void {
    const before = this.#open?.telemetry;
    this.#open = next;
    if (before === undefined) return;
    // Requests under way end under the settings they began with.
    this.#retired.add(before);
    void before.retire().then(() => this.#retired.delete(before));
  }

  #lose({ collectorUrl }: TracingConfig, why: string, count: number): void {
    this.#lostCount += count;
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#saidAtMs < SAY_EVERY_MS) return;
    this.#saidAtMs = nowMs;
    const lost = this.#lostCount === 1 ? '1 span' : `${this.#lostCount} spans`;
    this.#diagnostics?.('warn', `tracing: ${lost} lost so far, lately on the way to ${collectorUrl}: ${why}`);
  }
}

const MAX_VALUE_LENGTH = 8_192;

/** White space around it is not part of it: editors end files with a line break. */
function readValue(name: string, source: SecretSource): string {
  const setting = `tracing.headers.${name}`;
  const place = 'file' in source ? `file ${source.file}` : `environment variable ${source.env}`;
  const value = ('file' in source ? textOf(source.file, setting) : (process.env[source.env] ?? '')).trim();
  if (value === '') throw new Error(`${setting}: the ${place} is empty; put the value of the field there`);
  if (value.length > MAX_VALUE_LENGTH || !/^[\x20-\x7e]+$/.test(value))
    throw new Error(`${setting}: the ${place} holds no field value: one line of visible ASCII`);
  return value;
}

function textOf(path: string, setting: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new Error(`${setting}: the file ${path} cannot be read (${why}); give the path of a file with the value`, {
      cause: error,
    });
  }
}
