import { readdirSync, readFileSync } from 'node:fs';

/** What a process and all its descendants have used so far. */
export interface ProcessUsage {
  /** CPU time since each process started, in nanoseconds. */
  readonly cpuNanos: number;
  /** Resident memory summed over the processes, in bytes; pages shared by two of them count twice. */
  readonly rssBytes: number;
}

/** Length of one tick of /proc/PID/stat: USER_HZ is 100 on every Linux that Node runs on. */
const tickNanos = 10_000_000;

/** The pid and those of its living descendants. */
export function processTree(pid: number): number[] {
  const childrenOf = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const child = Number(name);
    if (!Number.isInteger(child)) continue;
    const parent = statFields(child)?.[1];
    if (parent === undefined) continue;
    const siblings = childrenOf.get(Number(parent));
    if (siblings === undefined) childrenOf.set(Number(parent), [child]);
    else siblings.push(child);
  }
  const tree = [pid];
  for (const member of tree) tree.push(...(childrenOf.get(member) ?? []));
  return tree;
}

/** Reads the usage of a process tree; a process that is gone counts as zero. */
export function readProcessUsage(pid: number): ProcessUsage {
  let cpuNanos = 0;
  let rssBytes = 0;
  for (const member of processTree(pid)) {
    cpuNanos += cpuNanosOf(member);
    rssBytes += rssBytesOf(member);
  }
  return { cpuNanos, rssBytes };
}

/** CPU time of the children this process has waited for (the finished load generators), in nanoseconds. */
export function readFinishedChildrenNanos(): number {
  const fields = statFields(process.pid);
  return (Number(fields?.[13] ?? 0) + Number(fields?.[14] ?? 0)) * tickNanos;
}

/**
 * schedstat counts in nanoseconds, but each thread alone: the file of the process is that of its first thread,
 * without V8's and libuv's helpers. Where the kernel keeps no schedstat, stat's ticks (10 ms) have to do.
 */
function cpuNanosOf(pid: number): number {
  let nanos = 0;
  for (const thread of entries(`/proc/${pid}/task`)) {
    nanos += Number(read(`/proc/${pid}/task/${thread}/schedstat`)?.split(' ')[0] ?? 0);
  }
  if (nanos > 0) return nanos;
  const fields = statFields(pid);
  return fields === undefined ? 0 : (Number(fields[11]) + Number(fields[12])) * tickNanos;
}

function rssBytesOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** The fields of /proc/PID/stat from the third on (state, ppid, …): the second may hold spaces and brackets. */
function statFields(pid: number): string[] | undefined {
  const stat = read(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Undefined when the process ended between two looks, which is no fault. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

function entries(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
