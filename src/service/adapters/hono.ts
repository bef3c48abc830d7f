import type { IncomingMessage, ServerResponse } from 'node:http';
import { adapt } from './adapter.ts';

/** What is asked of a context of Hono 4; the bindings are those of `@hono/node-server`. */
export interface HonoContext {
  readonly env: unknown;
  readonly error?: Error | undefined;
  readonly req: { readonly method: string; readonly routePath?: string };
}

/**
 * For Hono on `@hono/node-server`: `app.use(honoOwnership())`, before the routes. On another server, where there is no
 * response of Node to add a claim to, it only passes on.
 */
export function honoOwnership(): (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined> {
  return async (context, next) => {
    const { incoming, outgoing } = (context.env ?? {}) as {
      readonly incoming?: IncomingMessage;
      readonly outgoing?: ServerResponse;
    };
    const adapted = incoming === undefined || outgoing === undefined ? undefined : adapt(incoming, outgoing);
    if (adapted === undefined) {
      await next();
      return undefined;
    }
    if (adapted.expired) return adapted.tooLate();
    await adapted.run(next);
    // Hono has turned it into an answer by now, which is written after this.
    if (context.error !== undefined) adapted.inbound.error = context.error;
    return undefined;
  };
}
