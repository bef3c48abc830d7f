import type { Dispatcher } from 'undici';
import { retry } from '../../../src/client/interceptor/retry.ts';
import type { Wire } from './on-the-wire.ts';
import { AS_UNDICI, BUSY, FINE, startWire } from './on-the-wire.ts';
import type { PeerCase, PeerSuite } from './peer-case.ts';

type Controller = Dispatcher.DispatchController & { readonly rawHeaders?: unknown; readonly rawTrailers?: unknown };

/** What a handler was told of one request. */
interface Told {
  readonly calls: string[];
  readonly controllers: Set<unknown>;
  atStart: string;
  error: string;
}

function dispatchTo({ dispatcher, url }: Pick<Wire, 'dispatcher' | 'url'>, isPaused = false): Promise<Told> {
  const told: Told = { calls: [], controllers: new Set(), atStart: '', error: '' };
  return new Promise((resolve) => {
    const heard = (controller: unknown, call: string): void => {
      told.controllers.add(controller);
      if (told.calls.at(-1) !== call) told.calls.push(call);
    };
    dispatcher.dispatch(
      { origin: url, path: '/', method: 'GET' },
      {
        onRequestStart(controller: Controller) {
          heard(controller, 'start');
          const { paused, aborted, reason, rawHeaders, rawTrailers } = controller;
          told.atStart = JSON.stringify([paused, aborted, reason ?? null, rawHeaders ?? null, rawTrailers ?? null]);
        },
        onResponseStart(controller, status) {
          heard(controller, String(status));
          if (!isPaused) return;
          controller.pause();
          setImmediate(() => controller.resume());
        },
        onResponseData: (controller) => heard(controller, 'data'),
        onResponseEnd(controller) {
          heard(controller, 'end');
          resolve(told);
        },
        onResponseError(controller, error) {
          heard(controller, 'error');
          told.error = error.message;
          resolve(told);
        },
      },
    );
  });
}

/** Both ways of ours that speak this contract. */
async function both(
  wire: Wire,
  tell: (dispatcher: Pick<Wire, 'dispatcher' | 'url'>) => Promise<string>,
): Promise<string> {
  const dispatcher = wire.dispatcher.compose(retry({ retry: false }) as never);
  const [own, layered] = [await tell(wire), await tell({ dispatcher, url: wire.url })];
  return own === layered ? own : `${own}; as a layer: ${layered}`;
}

const CONTRACT: readonly PeerCase[] = [
  {
    name: 'the controller before there is a connection: paused, aborted, reason, headers, trailers',
    theirs: '[false,false,null,null,null]',
    ours: '[false,false,null,null,null]',
    run: async (t) => both(await startWire(t, FINE), async (wire) => (await dispatchTo(wire)).atStart),
  },
  {
    name: 'the controller over three attempts, of which the last is delivered',
    theirs: 'one and the same',
    ours: 'start, 200, data, end with 1 controller',
    async run(t) {
      const { calls, controllers } = await dispatchTo(await startWire(t, { requests: [BUSY, BUSY, FINE] }));
      return `${calls.join(', ')} with ${controllers.size} controller`;
    },
  },
  {
    name: 'a pause on the answer of a second attempt holds its body back',
    theirs: 'follows the live connection',
    ours: 'start, 200, data, end with 1 controller',
    async run(t) {
      const { calls, controllers } = await dispatchTo(await startWire(t, { requests: [BUSY, FINE] }), true);
      return `${calls.join(', ')} with ${controllers.size} controller`;
    },
  },
  {
    name: 'the dispatcher below throws',
    theirs: 'told to the handler',
    ours: 'error: dispatch failed at once',
    async run(t) {
      const { dispatcher, url } = await startWire(t, FINE);
      const throwing = (() => (_options: unknown, _handler: unknown) => {
        throw new Error('dispatch failed at once');
      }) as unknown as Dispatcher.DispatcherComposeInterceptor;
      const composed = dispatcher.compose(throwing, retry({ retry: false }) as never);
      const { calls, error } = await dispatchTo({ dispatcher: composed, url });
      return `${calls.at(-1)}: ${error}`;
    },
  },
  {
    name: 'close in the wait between two attempts',
    theirs: 'resolves after 1 ms, and the request dies of it',
    ours: '200 after 2 sends, then closed',
    why: 'close waits for requests, their retries included; destroy does not',
    async run(t) {
      const { origin, dispatcher, url } = await startWire(
        t,
        { requests: [BUSY, FINE] },
        { retry: { ...(AS_UNDICI.retry as object), backoffMs: 30, maxBackoffMs: 30 } },
      );
      const request = dispatchTo({ dispatcher, url });
      await origin.waitForRequest();
      let isClosed = false;
      const closing = dispatcher.close().then(() => (isClosed = true));
      const { calls } = await request;
      const before = isClosed;
      await closing;
      return `${calls[1]} after ${origin.requestCount()} sends, ${before ? 'closed before' : 'then closed'}`;
    },
  },
];

export const UNDICI_CONTRACT: PeerSuite = { title: 'undici: what a handler is told', cases: CONTRACT };
