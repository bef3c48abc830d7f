import type { Scenario } from '../scenario.ts';
import { server } from '../scenario.ts';

const freeSend =
  'One free send at once on a fresh connection for what may be repeated, not charged to the budget; a POST of which bytes were written is answered 502.';

/** Keep-alive races: a connection that carried a request before. */
export const reusing: readonly Scenario[] = [
  ...(['reset', 'close', 'destroy'] as const).map((how): Scenario => ({
    id: `S9 ${how}`,
    title: `a connection that was used before ends by ${how} before a byte of the answer`,
    rule: freeSend,
    origins: [server([{ do: how }, { do: 'respond', body: 'again' }])],
    warm: 1,
    route: {},
    expect: ({ repeatable }) =>
      repeatable
        ? {
            status: 200,
            text: 'again',
            sends: [2],
            reason: 'success',
            tookMs: [0, 0],
            attempts: ['connection_terminated/stale', 200],
          }
        : {
            status: 502,
            sends: [1],
            reason: 'not-idempotent',
            attempts: ['connection_terminated/stale'],
            flags: ['UC'],
          },
  })),
  {
    id: 'S9 twice',
    title: 'the fresh connection of the free send is reset too',
    rule: 'The free send is free once; the default policy names no resets.',
    origins: [server({ do: 'reset' })],
    warm: 1,
    route: {},
    expect: ({ repeatable }) =>
      repeatable
        ? { status: 502, sends: [2], reason: 'not-retryable' }
        : { status: 502, sends: [1], reason: 'not-idempotent' },
  },
  {
    id: 'S9 off',
    title: 'a connection that was used before is reset, and retries are off',
    rule: '`attempts: 0` means one send, the free one included.',
    origins: [server({ do: 'reset' })],
    warm: 1,
    route: { retry: { attempts: 0 } },
    expect: ({ repeatable }) => ({
      status: 502,
      sends: [1],
      reason: repeatable ? 'attempts-exhausted' : 'not-idempotent',
    }),
  },
  {
    id: 'S9 gone',
    title: 'the server closed the idle connection before the request came',
    rule: 'It is out of the pool by then: a fresh connection is made, and no send is lost, whatever the method.',
    origins: [server({ do: 'respond', body: 'fresh' }, { afterWarm: 'close' })],
    warm: 1,
    expect: { status: 200, text: 'fresh', sends: [1], reason: 'success', attempts: [200] },
  },
  {
    id: 'W2',
    title: 'a reused connection dies after a part of the answer’s head',
    rule: 'A byte of an answer proves that the request was worked on: not stale but ambiguous, so no free send.',
    origins: [server([{ do: 'respond', cut: { headBytes: 5 }, then: 'reset' }, { do: 'respond' }])],
    backs: ['1.1'],
    warm: 1,
    route: {},
    expect: { status: 502, sends: [1], reason: 'not-retryable', attempts: ['http_response_incomplete/ambiguous'] },
  },
  {
    id: 'W3',
    title: 'the server said Connection: close with the answer before',
    rule: 'The connection is not used again.',
    origins: [server({ do: 'respond', body: 'fresh', headers: { Connection: 'close' } })],
    backs: ['1.1'],
    warm: 1,
    expect: { status: 200, text: 'fresh', sends: [1], attempts: [200] },
  },
  {
    id: 'S34',
    title: 'bytes nobody asked for follow an answer',
    rule: 'They belong to nobody: the answer is passed on, the connection is not used again.',
    origins: [server([{ do: 'respond', body: 'asked', extra: 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nunasked' }])],
    backs: ['1.1'],
    expect: { status: 200, text: 'asked', sends: [1], reason: 'success' },
  },
];
