import type { Attributes, HrTime, SpanContext, SpanKind } from '@opentelemetry/api';
import { SpanStatusCode } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

/** A span as it is told: what it was, when, and below what. */
export interface SpanFacts {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  /** Wall clock, milliseconds since 1970, with fraction. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly attributes: Attributes;
  /** What went wrong; undefined for a span that is no error. Its text may be empty. */
  readonly error: string | undefined;
}

/** Longest text of an attribute, in characters: a hostile path must not fill the collector. */
const TEXT_CHARACTERS = 1_024;

/** A finished span for the exporter. It is made from the record in one go: nothing is kept for it while a request runs. */
export function finishedSpan(
  facts: SpanFacts,
  resource: Resource,
  scope: ReadableSpan['instrumentationScope'],
): ReadableSpan {
  const { context, parent, startMs, durationMs, error } = facts;
  return {
    name: clipped(facts.name),
    kind: facts.kind,
    spanContext: () => context,
    ...(parent === undefined ? {} : { parentSpanContext: parent }),
    startTime: hrTime(startMs),
    endTime: hrTime(startMs + durationMs),
    duration: hrTime(durationMs),
    ended: true,
    status:
      error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: clipped(error) },
    attributes: clippedAttributes(facts.attributes),
    links: [],
    events: [],
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Without what is undefined: an attribute that is absent says more than an empty one. */
function clippedAttributes(attributes: Attributes): Attributes {
  const kept: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) kept[name] = typeof value === 'string' ? clipped(value) : value;
  }
  return kept;
}

function clipped(text: string): string {
  return text.length > TEXT_CHARACTERS ? `${text.slice(0, TEXT_CHARACTERS)}…` : text;
}

function hrTime(ms: number): HrTime {
  const seconds = Math.trunc(ms / 1000);
  // Whole microseconds: more, a number of this size does not hold.
  return [seconds, Math.min(999_999, Math.round((ms - seconds * 1000) * 1000)) * 1000];
}
