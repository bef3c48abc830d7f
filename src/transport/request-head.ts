import { requestHeadText } from '../http1/serializer.ts';
import { internalFailure } from './failure-from-error.ts';
import type { Failure } from '../core/failure.ts';
import type { AttemptRequest } from './transport.ts';

const unsent = { phase: 'select', reused: false, bytesSent: 0, bytesReceived: 0 } as const;

/**
 * The head of an attempt's request as HTTP/1.1 text, or why it cannot be written. HTTP/2 asks for it too: what may be
 * written is decided in one place, whatever the wire.
 */
export function requestHead(request: AttemptRequest): { readonly text: string; readonly failure?: Failure } {
  const { method, target, fields, body } = request;
  try {
    if (method === 'CONNECT') throw new TypeError('CONNECT makes a tunnel, which is not an exchange of messages');
    if (request.upgrade !== undefined) {
      if (body !== undefined) throw new TypeError('a request that offers another protocol cannot have a body here');
      const offer = [...fields, 'Upgrade', request.upgrade];
      return { text: requestHeadText(method, target, offer, { kind: 'none', connection: 'upgrade' }) };
    }
    const length = body?.contentLength;
    const framing =
      body === undefined
        ? ({ kind: 'none' } as const)
        : length === undefined
          ? ({ kind: 'chunked' } as const)
          : ({ kind: 'length', length } as const);
    return { text: requestHeadText(method, target, fields, framing) };
  } catch (error) {
    return {
      text: '',
      failure: internalFailure('http_request_error', 'the request cannot be written', unsent, error),
    };
  }
}
