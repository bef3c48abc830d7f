import { nearestName } from '../config/nearest-name.ts';
import { readDuration, type Reading } from '../config/quantity.ts';
import { readPeer } from '../config/trust.ts';
import { OWNERSHIP_MODES } from '../core/retry-policy.ts';
import type { ServiceOptions } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface Variable {
  readonly setting: keyof ServiceOptions;
  readonly read: (text: string) => Reading<unknown>;
}

/** Each setting that a variable can say; edges need the file. */
const VARIABLES: Readonly<Record<string, Variable>> = {
  MULLIGAN_MODE: { setting: 'mode', read: readMode },
  MULLIGAN_TRUST: { setting: 'trust', read: readPeers },
  MULLIGAN_BLAME_UNKNOWN: { setting: 'blameUnknown', read: readSwitch },
  MULLIGAN_MARGIN: { setting: 'marginMs', read: (text) => limited(readDuration(text), 0, 60_000, '0s to 60s') },
  MULLIGAN_REFUSE_EXPIRED: { setting: 'refuseExpired', read: readSwitch },
  MULLIGAN_ALIAS: { setting: 'alias', read: readSwitch },
  MULLIGAN_PROBE_EVERY: { setting: 'probeEvery', read: readCount },
  MULLIGAN_OPENTELEMETRY: { setting: 'openTelemetry', read: readSwitch },
  MULLIGAN_MEMORY_FILE: { setting: 'memoryFile', read: (text) => ({ ok: true, value: text }) },
  MULLIGAN_SAVE_EVERY: {
    setting: 'saveEveryMs',
    read: (text) => limited(readDuration(text), 1000, 86_400_000, '1s to 24h'),
  },
};

/** Names that begin like ours and belong to something else of ours. */
const OTHERS: ReadonlySet<string> = new Set(['MULLIGAN_SERVICE_CONFIG']);

/** What the variables MULLIGAN_… say. An unknown one is a fault only where it is nearly one of ours: others may have their own. */
export function readEnvironment(environment: Environment): {
  readonly options: ServiceOptions;
  readonly faults: readonly string[];
} {
  const options: Record<string, unknown> = {};
  const faults: string[] = [];
  const known = Object.keys(VARIABLES);
  for (const name of Object.keys(environment).filter((key) => key.startsWith('MULLIGAN_'))) {
    const text = environment[name] ?? '';
    const variable = Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined;
    if (variable === undefined) {
      const near = OTHERS.has(name) ? undefined : nearestName(name, known);
      if (near !== undefined) faults.push(`${name}: is not a known variable (did you mean ${near}?)`);
      continue;
    }
    // An empty variable is how many a manifest says that it sets nothing.
    if (text === '') continue;
    const reading = variable.read(text);
    if (reading.ok) options[variable.setting] = reading.value;
    else faults.push(`${name}: ${reading.message} (${reading.hint})`);
  }
  return { options, faults };
}

function readMode(text: string): Reading<string> {
  const mode = OWNERSHIP_MODES.find((word) => word === text);
  return mode === undefined
    ? { ok: false, message: `must be one of ${OWNERSHIP_MODES.join(', ')}`, hint: 'observe counts and changes nothing' }
    : { ok: true, value: mode };
}

function readPeers(text: string): Reading<string[]> {
  const peers: string[] = [];
  for (const one of text.split(',').filter((word) => word.trim() !== '')) {
    const reading = readPeer(one);
    if (!reading.ok) return { ok: false, message: `'${one.trim()}' ${reading.message}`, hint: reading.hint };
    peers.push(reading.value);
  }
  return { ok: true, value: peers };
}

function readSwitch(text: string): Reading<boolean> {
  if (text === 'true' || text === 'false') return { ok: true, value: text === 'true' };
  return { ok: false, message: 'must be true or false', hint: 'in small letters' };
}

function readCount(text: string): Reading<number> {
  if (/^\d{1,7}$/.test(text) && Number(text) <= 1_000_000) return { ok: true, value: Number(text) };
  return { ok: false, message: 'must be a whole number from 0 to 1000000', hint: '0 switches probes off' };
}

function limited(reading: Reading<number>, lowest: number, highest: number, range: string): Reading<number> {
  if (!reading.ok || (reading.value >= lowest && reading.value <= highest)) return reading;
  return { ok: false, message: 'is out of range', hint: `from ${range}` };
}
