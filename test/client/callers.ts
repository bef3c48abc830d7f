import { Writable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { fetch as undiciFetch, getGlobalDispatcher, request, setGlobalDispatcher, stream } from 'undici';
import { fetch } from '../../src/client/fetch.ts';

/** A request in the terms that every way of sending one knows. */
export interface CallInput {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** What was given to the caller, for `attemptsOf`. */
  readonly response: object;
}

export type Caller = (url: string, input: CallInput, dispatcher: Dispatcher) => Promise<Answer>;

/** The ways in which programs send requests through a dispatcher. */
export const CALLERS: Readonly<Record<string, Caller>> = {
  async 'undici.request'(url, input, dispatcher) {
    const response = await request(url, { ...input, dispatcher });
    return { status: response.statusCode, text: await response.body.text(), response };
  },
  async 'undici.stream'(url, input, dispatcher) {
    let text = '';
    let status = 0;
    let response: object = {};
    await stream(url, { method: 'GET', ...input, dispatcher }, (head) => {
      response = head;
      status = head.statusCode;
      return new Writable({
        write(chunk: Buffer, _encoding, done) {
          text += chunk.toString();
          done();
        },
      });
    });
    return { status, text, response };
  },
  async fetch(url, input, dispatcher) {
    const response = await fetch(url, { ...input, dispatcher });
    return { status: response.status, text: await response.text(), response };
  },
  'undici.fetch with setGlobalDispatcher': (url, input, dispatcher) =>
    underGlobal(dispatcher, async () => {
      const response = await undiciFetch(url, input);
      return { status: response.status, text: await response.text(), response };
    }),
  "Node's fetch with setGlobalDispatcher": (url, input, dispatcher) =>
    underGlobal(dispatcher, async () => {
      const response = await globalThis.fetch(url, input);
      return { status: response.status, text: await response.text(), response };
    }),
};

async function underGlobal(dispatcher: Dispatcher, call: () => Promise<Answer>): Promise<Answer> {
  const before = getGlobalDispatcher();
  setGlobalDispatcher(dispatcher);
  try {
    return await call();
  } finally {
    setGlobalDispatcher(before);
  }
}
