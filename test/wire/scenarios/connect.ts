import type { Expected, OriginPlan, Scenario } from '../scenario.ts';
import { answering, server } from '../scenario.ts';

const secondAnswers: Expected = { status: 200, text: 'second', sends: [0, 1], reason: 'success' };

const certificates: readonly Scenario[] = (
  [
    ['expired', 'is over'],
    ['wrongHost', 'is for another host'],
    ['stranger', 'nobody who is trusted has signed'],
  ] as const
).flatMap(([certificate, what]): Scenario[] => [
  {
    id: `S6 ${certificate}`,
    title: `the certificate of the only endpoint ${what}`,
    rule: 'It would be the same on the next try: 502 at once, nothing was sent, and never without verification.',
    origins: [{ kind: 'tls', certificate }],
    expect: {
      status: 502,
      sends: [0],
      reason: 'not-retryable',
      attempts: ['tls_certificate_error/unsent'],
      fields: { 'proxy-status': 'mulligan; error=tls_certificate_error' },
    },
  },
  {
    id: `S6 ${certificate} first`,
    title: `the certificate of the first endpoint ${what}`,
    rule: 'Nothing was sent: an endpoint with a good one gets the request, whatever the method.',
    origins: [
      { kind: 'tls', certificate },
      { kind: 'tls', certificate: 'server' },
    ],
    expect: { ...secondAnswers, text: 'server', attempts: ['tls_certificate_error/unsent', 200] },
  },
]);

const refused: OriginPlan = { kind: 'refused' };

/** Before a byte of a request can be sent. */
export const connecting: readonly Scenario[] = [
  {
    id: 'S1',
    title: 'the first endpoint refuses the connection',
    rule: 'Nothing was sent: whatever the method, the next endpoint is asked at once.',
    origins: [refused, answering('second')],
    expect: { ...secondAnswers, attempts: ['connection_refused/unsent', 200], tookMs: [0, 0] },
  },
  {
    id: 'S1 default',
    title: 'the first endpoint refuses the connection, and the route says nothing of retries',
    rule: 'The default retries once what was never sent.',
    origins: [refused, answering('second')],
    route: {},
    expect: { ...secondAnswers, tookMs: [0, 0] },
  },
  {
    id: 'S1 off',
    title: 'the first endpoint refuses the connection, and retries are off',
    rule: '`attempts: 0` means one send, free ones included.',
    origins: [refused, answering('second')],
    route: { retry: { attempts: 0 } },
    expect: { status: 502, sends: [0, 0], reason: 'attempts-exhausted', attempts: ['connection_refused/unsent'] },
  },
  {
    id: 'S1 all',
    title: 'every endpoint refuses the connection',
    rule: 'Tried as often as the policy says, then the client learns it.',
    origins: [refused, refused],
    expect: {
      status: 502,
      sends: [0, 0],
      reason: 'attempts-exhausted',
      flags: ['UF', 'URX'],
      attempts: Array.from({ length: 4 }, () => 'connection_refused/unsent'),
      fields: { 'proxy-status': 'mulligan; error=connection_refused' },
    },
  },
  {
    id: 'S2',
    title: 'no route leads to the first endpoint',
    rule: 'As a refused connection.',
    origins: [{ kind: 'unroutable' }, answering('second')],
    expect: { ...secondAnswers, tookMs: [0, 0] },
  },
  {
    id: 'S3',
    title: 'the first endpoint swallows every packet',
    rule: 'After the connect timeout (1 s by default) the next endpoint is asked, whatever the method.',
    origins: [{ kind: 'black-hole' }, answering('second')],
    expect: { ...secondAnswers, attempts: ['connection_timeout/unsent', 200], tookMs: [1000, 1000] },
  },
  {
    id: 'S3 all',
    title: 'the only endpoint swallows every packet',
    rule: '504, never later than the deadline of the request.',
    origins: [{ kind: 'black-hole' }],
    route: { retry: { attempts: 9 }, timeouts: { request: '2500ms' } },
    expect: { status: 504, sends: [0], reason: 'deadline', tookMs: [2000, 2500] },
  },
  {
    id: 'S4',
    title: 'the name of the upstream has never been resolved',
    rule: '503, at once: no request waits for a name server.',
    origins: [answering('never asked')],
    dns: [],
    expect: { status: 503, sends: [0], flags: ['UH'], reason: 'no-endpoint', tookMs: [0, 0] },
  },
  {
    id: 'S5',
    title: 'a name stands for two addresses, and nobody listens on one',
    rule: 'The other one is asked.',
    origins: [answering('good')],
    dns: ['127.0.0.2', '127.0.0.1'],
    expect: { status: 200, text: 'good', sends: [1], reason: 'success', tookMs: [0, 0] },
  },
  ...certificates,
  {
    id: 'S7',
    title: 'the first endpoint never ends the TLS handshake',
    rule: 'The connect timeout covers it; then as a black hole.',
    origins: [
      { kind: 'tls', certificate: 'stalls' },
      { kind: 'tls', certificate: 'server' },
    ],
    expect: {
      ...secondAnswers,
      text: 'server',
      attempts: ['connection_timeout/unsent', 200],
      tookMs: [1000, 1000],
    },
  },
  {
    id: 'W1',
    title: 'the first endpoint closes every connection before a byte was sent on it',
    rule: 'Whether a byte was written is known, not guessed: with none, any method goes on.',
    origins: [server({ do: 'respond' }, { connections: 'close' }), answering('second')],
    backs: ['2'],
    expect: { ...secondAnswers, tookMs: [0, 0] },
  },
];
