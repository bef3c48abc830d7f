import type { IncomingMessage, ServerResponse } from 'node:http';
import { adapt } from './adapter.ts';

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * For a plain `node:http` server: `createServer(withOwnership(handler))`. A handler that throws, or whose promise is
 * rejected, ends as it would without; what it threw is the cause of the answer, should somebody still give one.
 */
export function withOwnership(handler: NodeHandler): NodeHandler {
  return (request, response) => {
    const adapted = adapt(request, response);
    if (adapted === undefined) return handler(request, response);
    if (adapted.expired) return adapted.refuse();
    const blame = (error: unknown): never => {
      adapted.inbound.error = error;
      throw error;
    };
    let result: unknown;
    try {
      result = adapted.run(() => handler(request, response));
    } catch (error) {
      return blame(error);
    }
    return result instanceof Promise ? result.catch(blame) : result;
  };
}
