import { checkSource, limitFaults } from '../config/checked-source.ts';
import type { ConfigFault } from '../config/fault.ts';
import { isMapping, list, mapping } from '../config/plain-data.ts';
import { placesIn } from '../config/text-places.ts';
import { readYaml } from '../config/yaml-source.ts';
import { callPlaces } from './call-places.ts';
import { readGatewayTopology } from './gateway-topology.ts';
import { type JsonSource, readJson } from './json-source.ts';
import { toTopology } from './to-topology.ts';
import { topologyForm } from './topology-form.ts';
import { type ReadSource, SOURCE_FORMATS, type SourceFormat, type Untold } from './topology-source.ts';
import { readTraces, type TraceFormat } from './traces/read-traces.ts';

/**
 * Reads a topology from whatever tells one: a topology file, a gateway file, or traces. Never throws.
 * @param fileName What faults call the file.
 * @param format Left out: told by the content.
 */
export function readSource(text: string, fileName: string, format?: SourceFormat): ReadSource {
  const looksLikeJson = /^\s*[[{]/.test(text);
  const json = looksLikeJson || isTraceFormat(format) ? readJson(text) : undefined;
  const known = format ?? (json === undefined ? undefined : formatOfJson(json, text)) ?? formatOfYaml(text);
  if (!isTraceFormat(known))
    return known === 'gateway' ? readGatewayTopology(text, fileName) : readTopologySource(text, fileName);
  if (json?.ok === true) return readTraces(text, fileName, known, json.documents);
  const offset = json?.offset ?? 0;
  const place = placesIn(text)(offset);
  const fault: ConfigFault = {
    severity: 'error',
    file: fileName,
    ...place,
    path: '',
    message: offset >= text.trimEnd().length ? 'ends in the middle of its JSON' : 'is no JSON from here on',
    hint: `${SOURCE_FORMATS[known]} was expected`,
  };
  return { ok: false, faults: [fault] };
}

function isTraceFormat(format: SourceFormat | undefined): format is TraceFormat {
  return format === 'otlp' || format === 'jaeger' || format === 'zipkin';
}

/** JSON is YAML too: `undefined` when it is no traces. */
function formatOfJson(json: JsonSource, text: string): TraceFormat | undefined {
  if (!json.ok) {
    const start = text.slice(0, 65_536);
    if (/"resourceSpans"/.test(start)) return 'otlp';
    if (/"traceID"/.test(start)) return 'jaeger';
    return /"traceId"/.test(start) ? 'zipkin' : undefined;
  }
  const data = json.documents[0]?.data;
  if (isMapping(data)) {
    if ('resourceSpans' in data || 'resourceLogs' in data || 'resourceMetrics' in data) return 'otlp';
    return Array.isArray(data['data']) || ('spans' in data && 'processes' in data) ? 'jaeger' : undefined;
  }
  const first = list(data)[0];
  if (isMapping(first) && 'spans' in first && 'processes' in first) return 'jaeger';
  return Array.isArray(data) ? 'zipkin' : undefined;
}

function formatOfYaml(text: string): SourceFormat {
  const data = mapping(readYaml(text).data);
  const isGateway = !('services' in data) && ['listeners', 'upstreams', 'routes'].some((key) => key in data);
  return isGateway ? 'gateway' : 'topology';
}

const NOTHING_UNTOLD: ReadonlySet<Untold> = new Set<Untold>();

function readTopologySource(text: string, fileName: string): ReadSource {
  const { file, faults } = checkSource(text, fileName, topologyForm);
  if (file === undefined || faults.some(({ severity }) => severity === 'error'))
    return { ok: false, faults: limitFaults(faults, fileName) };
  const { topology, callPaths } = toTopology(file);
  return {
    ok: true,
    source: {
      file: fileName,
      format: 'topology',
      topology,
      warnings: faults,
      assumptions: [],
      untold: NOTHING_UNTOLD,
      placeOfCall: callPlaces(text, callPaths),
      lines: text.split('\n'),
    },
  };
}
