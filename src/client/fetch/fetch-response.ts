import { KEPT_RESPONSE_BYTES } from '../../engine/kept-response.ts';

/**
 * Reads a response to its end, within bounds, so that its connection is free before the next attempt, and gives it back
 * unread. `undefined` when it is longer than that: it is closed then.
 */
export async function keepResponse(response: Response): Promise<Response | undefined> {
  if (response.body === null) return response;
  const reader = response.clone().body!.getReader();
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return response;
      bytes += value.length;
      if (bytes > KEPT_RESPONSE_BYTES) break;
    }
  } catch {
    return undefined;
  }
  // Both halves must be given up, or the connection stays with the one that is left.
  reader.cancel().catch(() => undefined);
  discardResponse(response);
  return undefined;
}

export function discardResponse(response: Response): void {
  if (response.body !== null && !response.body.locked) response.body.cancel().catch(() => undefined);
}
