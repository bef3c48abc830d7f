import type { ConfigFault } from '../config/fault.ts';
import type { Topology } from './topology.ts';

/** What a topology can be read from. */
export type SourceFormat = 'topology' | 'gateway' | 'otlp' | 'jaeger' | 'zipkin';

/** What each format is, for people. */
export const SOURCE_FORMATS: Readonly<Record<SourceFormat, string>> = {
  topology: 'a topology file (YAML)',
  gateway: 'a gateway file (YAML)',
  otlp: 'OpenTelemetry traces (OTLP as JSON, or JSON lines)',
  jaeger: 'Jaeger traces (JSON)',
  zipkin: 'Zipkin traces (JSON, version 2)',
};

export function isSourceFormat(word: string): word is SourceFormat {
  return Object.hasOwn(SOURCE_FORMATS, word);
}

/** What a source may not tell: a reader of the topology must not take the default for a fact. */
export type Untold = 'timeouts' | 'budgets' | 'keys' | 'rates' | 'methods';

/** A place in the source, for people. */
export interface SourcePlace {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 units. */
  readonly column: number;
  /** `services.shop.operations.buy.calls[0]` */
  readonly path: string;
}

/** A topology and where it comes from. */
export interface TopologySource {
  readonly file: string;
  readonly format: SourceFormat;
  readonly topology: Topology;
  readonly warnings: readonly ConfigFault[];
  /** What was assumed because the source does not tell it, a sentence each. */
  readonly assumptions: readonly string[];
  readonly untold: ReadonlySet<Untold>;
  /** Where a call of the topology stands; for a root's call, the root. */
  placeOfCall(call: number): SourcePlace;
  /** The lines of the text, where a person can leave a remark in it. */
  readonly lines: readonly string[];
}

export type ReadSource =
  | { readonly ok: true; readonly source: TopologySource }
  /** Warnings among the faults included; at least one is an error. */
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };
