/** What a route does to requests and responses besides sending them on; only Gateway API resources say such things. */
export interface RouteFilters {
  readonly requestFields?: FieldChanges;
  /** Of responses that came from an upstream, and of redirects. */
  readonly responseFields?: FieldChanges;
  /** Answers every request; the route has no targets then. */
  readonly redirect?: RouteRedirect;
  readonly mirrors?: readonly RouteMirror[];
}

export interface FieldChanges {
  /** Takes the place of every field of the name. */
  readonly set: readonly FieldSetting[];
  /** Joins what is there. */
  readonly add: readonly FieldSetting[];
  /** Lower case. */
  readonly remove: readonly string[];
}

export interface FieldSetting {
  readonly name: string;
  readonly value: string;
}

export interface RouteRedirect {
  /** Undefined: that of the request. */
  readonly scheme: 'http' | 'https' | undefined;
  /** Undefined: that of the request, without its port. */
  readonly host: string | undefined;
  readonly port: number;
  readonly path: PathChange | undefined;
  readonly status: 301 | 302 | 303 | 307 | 308;
}

/** The query stays in any case. */
export type PathChange =
  | { readonly kind: 'full'; readonly path: string }
  /** Takes the place of the prefix that the route matched. */
  | { readonly kind: 'prefix'; readonly prefix: string };

/** A copy of requests goes to this upstream too; its answers are thrown away. */
export interface RouteMirror {
  readonly upstream: string;
  /** 0–1 of the requests. */
  readonly share: number;
}

/** A share of a route's requests that is answered here, because what should serve it cannot. */
export interface RouteRefusal {
  /** Relative to the other refusals and the targets of the route. */
  readonly weight: number;
  readonly status: 404 | 500 | 503;
  /** For the client: without names of hosts or addresses. */
  readonly detail: string;
}
