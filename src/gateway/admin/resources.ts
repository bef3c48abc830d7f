import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EventChannel } from '../../core/observer.ts';
import type { Upstream } from '../../engine/upstream.ts';
import type { Prometheus } from '../../telemetry/prometheus.ts';
import type { GatewayReading } from '../../telemetry/live-reading.ts';
import { readEdges } from '../../telemetry/ownership-reading.ts';
import type { RequestMeter } from '../../telemetry/request-meter.ts';
import type { Clock } from '../../transport/clock.ts';
import type { Refusal } from './answer.ts';
import { answerJson, answerText, refuse } from './answer.ts';
import type { EventStream } from './event-stream.ts';
import { indexPage } from './index-page.ts';
import type { LiveGateway } from './live-gateway.ts';
import { shownConfig } from './shown-config.ts';
import { readUpstream } from './upstream-reading.ts';

export interface ResourceParts {
  readonly live: () => LiveGateway;
  readonly read: () => GatewayReading;
  readonly prometheus: Prometheus;
  readonly meter: RequestMeter;
  readonly stream: EventStream;
  readonly events: EventChannel;
  readonly clock: Clock;
  readonly isWritable: () => boolean;
}

type Handler = (request: IncomingMessage, response: ServerResponse, query: string) => void | Promise<void>;

/** What stands at a path, by method. A mutating method is never GET, so that no link or image can call it. */
export type Resource = Readonly<Partial<Record<'GET' | 'PUT' | 'DELETE', Handler>>>;

/** Paths that tell a prober one bit, and need no token. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

export function createResources(parts: ResourceParts): (path: string) => Resource | undefined {
  const { live, read, prometheus, stream, clock } = parts;
  const fixed: Readonly<Record<string, Resource>> = {
    '/': { GET: (_, response) => answerText(response, 200, 'text/html; charset=utf-8', indexPage(parts.isWritable())) },
    '/healthz': { GET: (_, response) => answerJson(response, 200, { status: 'alive' }) },
    '/readyz': {
      GET(_, response) {
        const { ready, draining } = read();
        const status = ready ? 'ready' : draining ? 'draining' : 'starting';
        answerJson(response, ready ? 200 : 503, { status });
      },
    },
    '/metrics': {
      async GET(_, response) {
        answerText(response, 200, prometheus.contentType, await prometheus.text());
      },
    },
    '/config': { GET: (_, response) => answerJson(response, 200, shownConfig(live().config)) },
    '/upstreams': {
      GET(_, response) {
        const { upstreams } = live();
        const time = new Date(clock.wallMs()).toISOString();
        answerJson(response, 200, { time, upstreams: upstreams.map((one) => shown(one, clock)) });
      },
    },
    '/ownership': {
      GET(_, response) {
        const time = new Date(clock.wallMs()).toISOString();
        answerJson(response, 200, { time, edges: readEdges(parts.meter, clock.nowMs()) });
      },
    },
    '/events': { GET: (request, response, query) => stream.serve(response, query, request.method === 'HEAD') },
  };
  return (path) => {
    if (Object.hasOwn(fixed, path)) return fixed[path];
    const [, root, name, kind, address, verb, ...rest] = path.split('/').map(decoded);
    if (root !== 'upstreams' || name === undefined || rest.length > 0) return undefined;
    if (kind === undefined) return upstreamResource(parts, name);
    if (kind !== 'endpoints' || address === undefined || verb !== 'drain') return undefined;
    return drainResource(parts, name, address);
  };
}

function upstreamResource({ live, clock }: ResourceParts, name: string): Resource {
  return {
    GET(_, response) {
      const upstream = live().upstreams.find((one) => one.name === name);
      if (upstream === undefined) return refuse(response, unknownUpstream);
      answerJson(response, 200, shown(upstream, clock));
    },
  };
}

function drainResource({ live, events, clock, isWritable }: ResourceParts, name: string, address: string): Resource {
  const change =
    (drained: boolean): Handler =>
    (_, response) => {
      if (!isWritable())
        return refuse(response, {
          status: 403,
          detail: 'This interface is read-only; set admin.write: true in the gateway file to allow changes.',
        });
      const upstream = live().upstreams.find((one) => one.name === name);
      if (upstream === undefined) return refuse(response, unknownUpstream);
      const endpoint = upstream.endpoints.find((one) => one.address.key === address);
      if (endpoint === undefined)
        return refuse(response, { status: 404, detail: 'The upstream has no endpoint of this address.' });
      if (endpoint.drained !== drained) {
        upstream.judge(endpoint, { drained });
        events.publish({
          type: 'endpoint-drain-changed',
          atMs: clock.wallMs(),
          upstream: name,
          endpoint: address,
          drained,
        });
      }
      answerJson(response, 200, shown(upstream, clock));
    };
  return { PUT: change(true), DELETE: change(false) };
}

const unknownUpstream: Refusal = { status: 404, detail: 'No upstream has this name; GET /upstreams lists them.' };

/** With instants in place of durations: "for 3 s" is wrong by the time it is read. */
function shown(upstream: Upstream, clock: Clock): unknown {
  const reading = readUpstream(upstream, clock.nowMs());
  const endpoints = reading.endpoints.map(({ forMs, ...endpoint }) => ({
    ...endpoint,
    until: forMs === undefined ? undefined : new Date(clock.wallMs() + forMs).toISOString(),
  }));
  return { ...reading, endpoints };
}

/** A part of a path; what cannot be decoded names nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '\u0000';
  }
}
