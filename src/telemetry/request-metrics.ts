import type { Registry } from 'prom-client';
import { addCounter, addGauge, addHistogram } from './metric-family.ts';
import type { RequestMeter } from './request-meter.ts';

/** What happened: counted as each request ended. */
export function addRequestMetrics(registry: Registry, meter: RequestMeter, nowMs: () => number): void {
  addCounter(registry, {
    name: 'mulligan_requests_total',
    help: 'Requests that ended, by what the client got and why there was no further retry.',
    labels: ['route', 'upstream', 'method', 'status_class', 'reason'],
    *read() {
      for (const route of meter.routes()) {
        for (const { method, statusClass, reason, count } of route.requests())
          yield [[route.route, route.upstream, method, statusClass, reason], count];
      }
    },
  });
  addHistogram(registry, {
    name: 'mulligan_request_duration_seconds',
    help: 'From the request head to the end of the response, waits and all attempts included.',
    labels: ['route', 'upstream'],
    *read() {
      for (const { route, upstream, durations } of meter.routes()) yield [[route, upstream], durations];
    },
  });
  addCounter(registry, {
    name: 'mulligan_request_flags_total',
    help: 'Requests by response flag; one request may have several.',
    labels: ['route', 'upstream', 'flag'],
    *read() {
      for (const { route, upstream, flags } of meter.routes())
        for (const [flag, count] of flags.entries()) yield [[route, upstream, flag], count];
    },
  });
  addCounter(registry, {
    name: 'mulligan_stops_total',
    help: 'Requests that reached the retry loop, by the reason why it made no further attempt.',
    labels: ['route', 'upstream', 'reason'],
    *read() {
      for (const route of meter.routes()) {
        const byReason = new Map<string, number>();
        for (const { reason, count } of route.requests())
          if (reason !== '') byReason.set(reason, (byReason.get(reason) ?? 0) + count);
        for (const [reason, count] of byReason) yield [[route.route, route.upstream, reason], count];
      }
    },
  });
  addCounter(registry, {
    name: 'mulligan_retries_total',
    help: 'Attempts after the first. charged: paid by the budget; free: after a stale connection; hedge: a copy sent beside one that took long.',
    labels: ['route', 'upstream', 'kind'],
    *read() {
      for (const { route, upstream, chargedRetryCount, freeRetryCount, hedgeCount } of meter.routes()) {
        if (upstream === '') continue;
        yield [[route, upstream, 'charged'], chargedRetryCount];
        yield [[route, upstream, 'free'], freeRetryCount];
        yield [[route, upstream, 'hedge'], hedgeCount];
      }
    },
  });
  addCounter(registry, {
    name: 'mulligan_retry_wait_seconds_total',
    help: 'Time that requests waited between attempts.',
    labels: ['route', 'upstream'],
    *read() {
      for (const { route, upstream, retryWaitSeconds } of meter.routes())
        if (upstream !== '') yield [[route, upstream], retryWaitSeconds];
    },
  });
  addCounter(registry, {
    name: 'mulligan_request_body_bytes_total',
    help: 'Bytes of request bodies received from clients.',
    labels: ['route', 'upstream'],
    *read() {
      for (const { route, upstream, requestBytes } of meter.routes()) yield [[route, upstream], requestBytes];
    },
  });
  addCounter(registry, {
    name: 'mulligan_response_body_bytes_total',
    help: 'Bytes of response bodies handed to clients.',
    labels: ['route', 'upstream'],
    *read() {
      for (const { route, upstream, responseBytes } of meter.routes()) yield [[route, upstream], responseBytes];
    },
  });
  addCounter(registry, {
    name: 'mulligan_truncated_responses_total',
    help: 'Responses that were cut after their head.',
    labels: ['route', 'upstream'],
    *read() {
      for (const { route, upstream, truncatedCount } of meter.routes()) yield [[route, upstream], truncatedCount];
    },
  });
  addCounter(registry, {
    name: 'mulligan_bodies_not_replayable_total',
    help: 'Request bodies that could not be kept for another attempt, by the limit that was reached.',
    labels: ['route', 'upstream', 'cause'],
    *read() {
      for (const { route, upstream, replayLost } of meter.routes())
        for (const [cause, count] of replayLost.entries()) yield [[route, upstream, cause], count];
    },
  });
  addAttemptMetrics(registry, meter, nowMs);
}

function addAttemptMetrics(registry: Registry, meter: RequestMeter, nowMs: () => number): void {
  addCounter(registry, {
    name: 'mulligan_attempts_total',
    help: 'Attempts by safety class (none: it succeeded, or was abandoned) and outcome (status class or failure).',
    labels: ['upstream', 'endpoint', 'class', 'outcome'],
    *read() {
      for (const one of meter.endpoints()) {
        for (const { safety, outcome, count } of one.attempts())
          yield [[one.upstream, one.endpoint, safety, outcome], count];
      }
    },
  });
  addHistogram(registry, {
    name: 'mulligan_attempt_duration_seconds',
    help: 'From the choice of the endpoint to the end of its response, or its failure.',
    labels: ['upstream', 'endpoint'],
    *read() {
      for (const { upstream, endpoint, durations } of meter.endpoints()) yield [[upstream, endpoint], durations];
    },
  });
  addCounter(registry, {
    name: 'mulligan_endpoint_ejections_total',
    help: 'How often the endpoint was ejected because its attempts failed.',
    labels: ['upstream', 'endpoint'],
    *read() {
      for (const { upstream, endpoint, ejectionCount } of meter.endpoints())
        yield [[upstream, endpoint], ejectionCount];
    },
  });
  addCounter(registry, {
    name: 'mulligan_breaker_opened_total',
    help: 'How often the breaker opened.',
    labels: ['upstream', 'operation'],
    *read() {
      for (const { upstream, opened } of meter.upstreams())
        for (const [operation, count] of opened.entries()) yield [[upstream, operation], count];
    },
  });
  addCounter(registry, {
    name: 'mulligan_sends_total',
    help: 'Attempts of which the upstream may have seen a byte: all but those that could not connect.',
    labels: ['upstream'],
    *read() {
      for (const { upstream, sendCount } of meter.upstreams()) yield [[upstream], sendCount];
    },
  });
  addGauge(registry, {
    name: 'mulligan_amplification_ratio',
    help: 'Sends per request of the last minute; missing while there was no request. Alarm above 1.2.',
    labels: ['upstream'],
    *read() {
      for (const upstream of meter.upstreams()) {
        const ratio = upstream.amplification(nowMs());
        if (!Number.isNaN(ratio)) yield [[upstream.upstream], ratio];
      }
    },
  });
}
