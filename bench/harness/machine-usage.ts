import { readFileSync } from 'node:fs';

/** CPU time of the whole machine since it started, in nanoseconds, summed over its cores. */
export interface MachineUsage {
  /** Spent in user space, the kernel and interrupts. */
  readonly busyNanos: number;
  /** Wanted, but given to another virtual machine by the host. */
  readonly stolenNanos: number;
}

const tickNanos = 10_000_000;

export function readMachineUsage(): MachineUsage {
  const line = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0] ?? '';
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return { busyNanos: (user + nice + system + irq + softirq) * tickNanos, stolenNanos: steal * tickNanos };
}
