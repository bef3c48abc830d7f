import { printable } from '../config/fault.ts';
import type { GatewayConfig } from '../config/gateway-config.ts';
import { formatDuration } from '../config/quantity.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { createGateway } from '../gateway/gateway.ts';
import { createStandardSink } from '../gateway/line-sink.ts';
import { exitCode } from './exit-code.ts';
import { limitLines } from './limited-lines.ts';

export type Level = 'info' | 'warn' | 'error';

/** A gateway that is this process's work: signals end it, and the process with it. */
export interface RunningGateway {
  readonly gateway: Gateway;
  /** One line on standard error; lost, not waited for, when nobody reads it. */
  say(level: Level, message: string): void;
  /** Prints the addresses that were not printed yet. Whoever reads one may send a signal: handle it first. */
  announce(): void;
}

/** Longest wait for the last lines of the logs and for connections that are cut. */
const lastWordsMs = 1000;

/**
 * Starts a gateway and lets the process live as long as it does. The first SIGTERM or SIGINT drains, the second ends now.
 * @param onStop Called once, when it begins to stop.
 * @throws as `Gateway.start`
 */
export async function runGateway(config: GatewayConfig, onStop: () => void = () => {}): Promise<RunningGateway> {
  const errors = createStandardSink(2);
  const say = (level: Level, message: string): void =>
    errors.write(`${new Date().toISOString()} ${level} ${printable(message, 4096)}\n`);
  const gateway = createGateway(config, { diagnostics: limitLines<Level>(say, () => performance.now()) });
  const announced = new Set<string>();
  const announce = (): void => {
    const { addresses, adminAddress } = gateway;
    const open = addresses.map((address) => ({ kind: 'listener', address }));
    if (adminAddress !== undefined) open.push({ kind: 'admin', address: adminAddress });
    for (const { kind, address } of open) {
      if (announced.has(address)) continue;
      announced.add(address);
      process.stdout.write(`${JSON.stringify({ event: 'listening', kind, address })}\n`);
    }
  };

  let stopping = false;
  let ending = false;
  const end = async (code: number): Promise<void> => {
    // Cutting what is in flight also ends the first signal's wait: its exit code must not overtake the second's.
    if (ending) return;
    ending = true;
    await Promise.race([gateway.stop(), delay(lastWordsMs)]);
    await errors.close(lastWordsMs);
    process.exit(code);
  };
  const stop = async (why: string, code: number): Promise<void> => {
    stopping = true;
    onStop();
    say(
      'info',
      `${why}: no new requests; ${inFlight(gateway)} may take up to ${formatDuration(config.drainMs)} to end`,
    );
    const drained = await gateway.drain();
    if (!drained) say('warn', `the time to drain is over: ${inFlight(gateway)} cut`);
    await end(code);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (!stopping) {
      void stop(signal, exitCode.fine);
      return;
    }
    const cut = gateway.inflightCount;
    say('warn', `${signal} again: ending now, ${inFlight(gateway)} cut`);
    void end(cut === 0 ? exitCode.fine : exitCode.failure);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // Without a listener the signal would end the process, and with it every request.
  process.on('SIGUSR2', () => {
    gateway.reopenAccessLog();
    say('info', 'SIGUSR2: access log opened anew');
  });
  // After an exception that nobody expected, any state may be half changed: finish what runs, take nothing new, go.
  process.on('uncaughtException', (error) => {
    say('error', `unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    process.exitCode = exitCode.failure;
    if (!stopping) void stop('unexpected exception', exitCode.failure);
  });

  try {
    await gateway.start();
  } catch (error) {
    await errors.close(lastWordsMs);
    throw error;
  }
  return { gateway, say, announce };
}

function inFlight({ inflightCount }: Gateway): string {
  return `${inflightCount} ${inflightCount === 1 ? 'request' : 'requests'} in flight`;
}

function delay(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs);
  });
}
