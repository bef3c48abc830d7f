import { defaults } from './defaults.ts';
import type { DataFault, DataPath } from './fault.ts';
import type { Mapping } from './plain-data.ts';
import { durationMs } from './plain-data.ts';
import { formatDuration } from './quantity.ts';

/** Settings of a circuit that never opens, and a ceiling below its floor. */
export function circuitBreakerFaults(path: DataPath, breaker: Mapping): DataFault[] {
  const opens = breaker['consecutiveFailures'] !== undefined || breaker['failurePercent'] !== undefined;
  const idle = opens ? [] : ['openFor', 'maxOpenFor', 'halfOpenRequests'].filter((field) => field in breaker);
  return [
    ...idle.map((field): DataFault => ({
      severity: 'warning',
      path: [...path, field],
      atKey: true,
      message: 'has no effect: the circuit never opens',
      hint: 'give consecutiveFailures or failurePercent',
    })),
    ...shareFaults(path, breaker),
    ...ceilingFaults(path, breaker, 'openFor', 'maxOpenFor', defaults.circuitBreaker.openFor),
    ...tooLong(path, breaker, ['openFor', 'maxOpenFor'], 3_600_000),
  ];
}

export function outlierFaults(path: DataPath, detection: Mapping): DataFault[] {
  return [
    ...shareFaults(path, detection),
    ...ceilingFaults(path, detection, 'baseEjection', 'maxEjection', defaults.outlierDetection.baseEjection),
    ...tooLong(path, detection, ['baseEjection'], 3_600_000),
    ...tooLong(path, detection, ['maxEjection'], 86_400_000),
  ];
}

function shareFaults(path: DataPath, settings: Mapping): DataFault[] {
  if (settings['failurePercent'] !== undefined) return [];
  return ['minRequests', 'window']
    .filter((field) => field in settings)
    .map((field) => ({
      severity: 'warning',
      path: [...path, field],
      atKey: true,
      message: 'has no effect: failurePercent is not given',
      hint: 'give failurePercent, or remove it',
    }));
}

function ceilingFaults(
  path: DataPath,
  settings: Mapping,
  floor: string,
  ceiling: string,
  fallback: string,
): DataFault[] {
  const floorMs = durationMs(settings[floor], fallback);
  const ceilingMs = durationMs(settings[ceiling]);
  if (floorMs === undefined || ceilingMs === undefined || ceilingMs === 0 || ceilingMs >= floorMs) return [];
  const said = settings[floor] === undefined ? `the default ${floor}` : floor;
  return [
    {
      path: [...path, ceiling],
      message: `${formatDuration(ceilingMs)} is shorter than ${said} ${formatDuration(floorMs)}`,
      hint: 'the longest time cannot be shorter than the first',
    },
  ];
}

function tooLong(path: DataPath, settings: Mapping, fields: readonly string[], longestMs: number): DataFault[] {
  return fields.flatMap((field) => {
    const ms = durationMs(settings[field]);
    if (ms === undefined || ms <= longestMs) return [];
    return [{ path: [...path, field], message: 'is too long', hint: `at most ${formatDuration(longestMs)}` }];
  });
}
