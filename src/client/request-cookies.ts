import { fieldValues, hasField } from '../http1/field-list.ts';
import type { ResponseHead } from '../http1/message.ts';
import type { AttemptRequest } from '../transport/transport.ts';

/** Where cookies are kept: a `CookieJar` of tough-cookie, or what is like one. */
export interface CookieJar {
  /** The value of the Cookie field for a request to this URL; empty when there is none. */
  getCookieString(url: string): Promise<string>;
  /** Keeps what one Set-Cookie field says. A cookie that is not valid, or not for this URL, is left out. */
  setCookie(cookie: string, url: string, options: { readonly ignoreError: true }): Promise<unknown>;
}

/**
 * The cookies of one request (RFC 6265). Every attempt asks the jar, and the jar gets what every answer sets: an answer that
 * is put aside for a retry, too, for its server has moved on to the new cookie.
 */
export class RequestCookies {
  readonly #jar: CookieJar;
  readonly #url: string;
  #storing: Promise<void> | undefined;

  constructor(jar: CookieJar, url: string) {
    this.#jar = jar;
    this.#url = url;
  }

  /** Ends when the jar has all that answers brought; `undefined` when they brought nothing. It fails as the jar does. */
  get storing(): Promise<void> | undefined {
    return this.#storing;
  }

  /** An answer arrived, to whatever it leads. */
  take({ fields }: ResponseHead): void {
    const set = fieldValues(fields, 'set-cookie');
    if (set.length === 0) return;
    this.#storing = this.#store(set, this.#storing);
    // Whoever waits for it gets the error; a request that was given up meanwhile has nobody who does.
    this.#storing.catch(() => undefined);
  }

  /** A request with a Cookie of its own keeps that one alone. */
  async on(request: AttemptRequest): Promise<AttemptRequest> {
    await this.#storing;
    if (hasField(request.fields, 'cookie')) return request;
    const value = await this.#jar.getCookieString(this.#url);
    return value === '' ? request : { ...request, fields: [...request.fields, 'Cookie', value] };
  }

  /** One after the other: of two with one name the later counts. */
  async #store(set: readonly string[], before: Promise<void> | undefined): Promise<void> {
    await before;
    for (const cookie of set) await this.#jar.setCookie(cookie, this.#url, { ignoreError: true });
  }
}

/** @throws TypeError when it cannot be asked for cookies */
export function requireCookieJar(jar: unknown): CookieJar | undefined {
  if (jar === undefined) return undefined;
  if (typeof jar === 'object' && jar !== null && isMethod(jar, 'getCookieString') && isMethod(jar, 'setCookie'))
    return jar as CookieJar;
  throw new TypeError('cookies: give a CookieJar of tough-cookie, or an object with getCookieString and setCookie');
}

function isMethod(owner: object, name: string): boolean {
  return name in owner && typeof (owner as Record<string, unknown>)[name] === 'function';
}

/** Reads an answer as `read` does, once its cookies were taken. */
export function takingCookies<Rest extends readonly unknown[], Facts>(
  cookies: RequestCookies | undefined,
  read: (facts: Facts, head: ResponseHead, ...rest: Rest) => Facts,
): (facts: Facts, head: ResponseHead, ...rest: Rest) => Facts {
  if (cookies === undefined) return read;
  return (facts, head, ...rest) => {
    cookies.take(head);
    return read(facts, head, ...rest);
  };
}
