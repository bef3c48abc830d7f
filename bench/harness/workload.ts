export type WorkloadName = 'small' | 'large' | 'single' | 'steady';

/** What is asked of every target. */
export interface Workload {
  readonly name: WorkloadName;
  readonly title: string;
  readonly path: string;
  readonly connectionCount: number;
  /** Requests a second; undefined sends the next request as soon as the answer is there. */
  readonly ratePerSecond: number | undefined;
}

export const workloads: Readonly<Record<WorkloadName, Workload>> = {
  small: {
    name: 'small',
    title: '128-byte body, 64 connections',
    path: '/small',
    connectionCount: 64,
    ratePerSecond: undefined,
  },
  large: {
    name: 'large',
    title: '100 KB body, 64 connections',
    path: '/large',
    connectionCount: 64,
    ratePerSecond: undefined,
  },
  single: {
    name: 'single',
    title: '128-byte body, one connection',
    path: '/small',
    connectionCount: 1,
    ratePerSecond: undefined,
  },
  steady: {
    name: 'steady',
    title: '128-byte body, 4 000 requests a second',
    path: '/small',
    connectionCount: 64,
    ratePerSecond: 4_000,
  },
};

/** With Host, the seven fields of a request: what a browser or a service in front of a gateway sends. */
export const requestFields: Readonly<Record<string, string>> = {
  'User-Agent': 'mulligan-bench/1.0',
  Accept: 'application/json, text/plain, */*',
  'Accept-Language': 'en-GB,en;q=0.9',
  'Accept-Encoding': 'gzip, deflate, br',
  Authorization: 'Bearer 3f1c0e9a7b5d4f2e8a6c1d0b9e7f5a3c',
  'X-Request-Id': '6f9619ff-8b86-4d01-b42d-00cf4fc964ff',
};

/** The body of /small. Plain letters: it stands in nginx's configuration as it is. */
export const smallBody: string = 'mulligan'.repeat(16);

/** The body of /large, 100 KB; each line tells its place, so that lost or doubled pieces show in the smoke check. */
export const largeBody: Uint8Array = Buffer.from(
  Array.from({ length: 6_400 }, (_, line) => `${String(line).padStart(15, '0')}\n`).join(''),
);
