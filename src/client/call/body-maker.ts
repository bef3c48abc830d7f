/**
 * What a function gives as the body of each attempt. The same stream or iterator a second time is refused: the attempt before
 * has read it, and nothing of it would go out in its place. A list may come again, for it can be read again.
 */
export function bodiesOf<Body>(make: () => Body): () => Body {
  const requireNew = createRepeatCheck();
  return () => {
    const body = make();
    if (isPromise(body)) {
      // Nobody waits for it: what it is rejected with would end the process.
      body.then(undefined, () => undefined);
      throw new TypeError('request body: the function gave a promise; give the body itself, or a stream that waits');
    }
    requireNew(body);
    return body;
  };
}

/** @returns a check for each body that one function gave; it throws a TypeError for a stream or iterator that it gave before */
export function createRepeatCheck(): (body: unknown) => void {
  const given = new WeakSet<object>();
  return (body) => {
    if (typeof body !== 'object' || body === null) return;
    if (!given.has(body)) given.add(body);
    else if (isReadOnce(body))
      throw new TypeError('request body: the function gave the same stream again; give a new one for each attempt');
  };
}

function isReadOnce(body: object): boolean {
  if ('getReader' in body || 'pipe' in body) return true;
  if (Symbol.asyncIterator in body) return isIterator(body, (body as AsyncIterable<unknown>)[Symbol.asyncIterator]());
  return Symbol.iterator in body && isIterator(body, (body as Iterable<unknown>)[Symbol.iterator]());
}

/** What is its own iterator is over after one reading. */
function isIterator(body: object, iterator: object): boolean {
  return iterator === body;
}

function isPromise(body: unknown): body is PromiseLike<unknown> {
  return typeof body === 'object' && body !== null && 'then' in body && typeof body.then === 'function';
}
