import type { MulliganEvent } from '../core/observer.ts';
import type { RequestSample } from './request-sample.ts';
import { EndpointMeter } from './endpoint-meter.ts';
import { RouteMeter } from './route-meter.ts';
import { UpstreamMeter } from './upstream-meter.ts';

/** Meters of endpoints and routes that are gone from the configuration are kept up to so many, then dropped. */
const MAX_STALE_COUNT = 500;

/** What is in service now; everything else may be forgotten. */
export interface InService {
  readonly routes: ReadonlySet<string>;
  readonly upstreams: ReadonlySet<string>;
  /** `upstream` and the endpoint's key. */
  hasEndpoint(upstream: string, endpoint: string): boolean;
}

/**
 * Counts requests as they end. It sits on the way of every request, so it only increments plain numbers; names, labels
 * and sums are made when somebody scrapes. All names come from the configuration: a client cannot make a new series.
 */
export class RequestMeter {
  readonly #routes = new Map<string | undefined, Map<string | undefined, RouteMeter>>();
  readonly #endpoints = new Map<string, Map<string, EndpointMeter>>();
  readonly #upstreams = new Map<string, UpstreamMeter>();

  /** @param nowMs Monotonic milliseconds. */
  record(sample: RequestSample, nowMs: number): void {
    const { upstream, attempts } = sample;
    const edge = this.#routeMeter(sample.route, upstream);
    edge.record(sample);
    edge.ownership.ended(sample, nowMs);
    if (attempts.length === 0 && upstream !== undefined) this.#upstreamMeter(upstream).requested(nowMs);
    for (const [index, attempt] of attempts.entries()) {
      this.#endpointMeter(attempt.upstream, attempt.endpoint).record(attempt);
      this.#routeMeter(sample.route, attempt.upstream).ownership.attempted(attempt);
      const meter = this.#upstreamMeter(attempt.upstream);
      // A request counts once at each upstream that it came to.
      if (index === 0 || attempts.findIndex((one) => one.upstream === attempt.upstream) === index)
        meter.requested(nowMs);
      if (attempt.class !== 'unsent') meter.sent(nowMs);
    }
  }

  /** Something happened besides requests. */
  told(event: MulliganEvent): void {
    if (event.type === 'endpoint-ejected') this.#endpointMeter(event.upstream, event.endpoint).ejectionCount += 1;
    else if (event.type === 'breaker-changed' && event.to === 'open')
      this.#upstreamMeter(event.upstream).opened.add(event.operation ?? '');
  }

  *routes(): Iterable<RouteMeter> {
    for (const byUpstream of this.#routes.values()) yield* byUpstream.values();
  }

  *endpoints(): Iterable<EndpointMeter> {
    for (const byEndpoint of this.#endpoints.values()) yield* byEndpoint.values();
  }

  upstreams(): Iterable<UpstreamMeter> {
    return this.#upstreams.values();
  }

  /** Endpoints of a resolver come and go for months: what they left behind must not grow without end. */
  forgetStale(inService: InService): void {
    const isStaleRoute = ({ route, upstream }: RouteMeter): boolean =>
      (route !== '' && !inService.routes.has(route)) || (upstream !== '' && !inService.upstreams.has(upstream));
    const routes = [...this.routes()].filter(isStaleRoute);
    if (routes.length > MAX_STALE_COUNT) {
      for (const { route, upstream } of routes) this.#routes.get(named(route))?.delete(named(upstream));
    }
    const endpoints = [...this.endpoints()].filter(
      ({ upstream, endpoint }) => !inService.hasEndpoint(upstream, endpoint),
    );
    if (endpoints.length > MAX_STALE_COUNT) {
      for (const { upstream, endpoint } of endpoints) this.#endpoints.get(upstream)?.delete(endpoint);
    }
    const upstreams = [...this.#upstreams.keys()].filter((name) => !inService.upstreams.has(name));
    if (upstreams.length > MAX_STALE_COUNT) for (const name of upstreams) this.#upstreams.delete(name);
  }

  #routeMeter(route: string | undefined, upstream: string | undefined): RouteMeter {
    let byUpstream = this.#routes.get(route);
    if (byUpstream === undefined) this.#routes.set(route, (byUpstream = new Map()));
    let meter = byUpstream.get(upstream);
    if (meter === undefined) byUpstream.set(upstream, (meter = new RouteMeter(route ?? '', upstream ?? '')));
    return meter;
  }

  #endpointMeter(upstream: string, endpoint: string): EndpointMeter {
    let byEndpoint = this.#endpoints.get(upstream);
    if (byEndpoint === undefined) this.#endpoints.set(upstream, (byEndpoint = new Map()));
    let meter = byEndpoint.get(endpoint);
    if (meter === undefined) byEndpoint.set(endpoint, (meter = new EndpointMeter(upstream, endpoint)));
    return meter;
  }

  #upstreamMeter(upstream: string): UpstreamMeter {
    let meter = this.#upstreams.get(upstream);
    if (meter === undefined) this.#upstreams.set(upstream, (meter = new UpstreamMeter(upstream)));
    return meter;
  }
}

/** In labels, the empty text stands for "none"; Prometheus reads it so too. */
function named(label: string): string | undefined {
  return label === '' ? undefined : label;
}
