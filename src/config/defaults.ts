/**
 * Every default of a gateway file, in the file's own words; the schema, the JSON Schema and the documentation read it
 * from here. `maxBackoff` alone is computed: max(250ms, 10 × backoff).
 */
export const defaults = {
  server: 'own',
  limits: { headerBytes: '16KiB', headerTimeout: '10s', bodyIdle: '30s', keepAlive: '65s', maxConnections: 10_000 },
  protocol: 'http1',
  endpoint: { weight: 1, priority: 0, refresh: '10s' },
  target: { weight: 1 },
  loadBalancing: 'least-request',
  connect: { timeout: '1s', idleTimeout: '50s', maxConnections: 256, maxRequestsPerConnection: 0 },
  retryBudget: {
    kind: 'ratio',
    percent: 20,
    interval: '10s',
    minRetryRate: { count: 10, interval: '1s' },
    maxTokens: 10,
    tokenRatio: 0.1,
    onExhausted: 'original',
  },
  circuitBreaker: { maxInflightRequests: 1024, onOverflow: '503' },
  healthCheck: { interval: '5s', timeout: '1s', healthyAfter: 2, unhealthyAfter: 3 },
  timeouts: { request: '15s', backendRequest: '0s', idle: '60s' },
  retry: {
    attempts: 1,
    codes: [],
    on: ['unsent', 'rejected', 'stale'],
    backoff: '25ms',
    smallestMaxBackoff: '250ms',
    curve: 'exponential',
    jitter: 'full',
    retryAfterMax: '10s',
  },
  replayBuffer: '64KiB',
  replayMemory: '64MiB',
  retryOfRetry: false,
  accessLog: { path: '-' },
  shutdown: { drain: '30s', delay: '0s' },
  admin: { address: '127.0.0.1:9901', public: false, write: false },
  tracing: { sample: 'parent', service: 'mulligan' },
} as const;
