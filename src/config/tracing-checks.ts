import type { DataFault } from './fault.ts';
import { printable } from './fault.ts';
import type { Mapping } from './plain-data.ts';
import { isMapping, mapping } from './plain-data.ts';

const GRPC_PORT = '4317';
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What says how a batch is framed and what it is: the exporter's own. */
const EXPORTERS_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
]);

/** What the schema cannot say of `tracing`. */
export function tracingFaults(tracing: Mapping): DataFault[] {
  const faults: DataFault[] = [];
  const { otlp } = tracing;
  if (typeof otlp === 'string' && URL.canParse(otlp) && new URL(otlp).port === GRPC_PORT)
    faults.push({
      severity: 'warning',
      path: ['tracing', 'otlp'],
      message: `port ${GRPC_PORT} is that of OTLP over gRPC, which is not spoken here`,
      hint: 'OTLP over HTTP has port 4318',
    });
  for (const [name, value] of Object.entries(mapping(tracing['headers'])))
    faults.push(...headerFaults(name, value, ['tracing', 'headers', name]));
  return faults;
}

function headerFaults(name: string, value: unknown, path: DataFault['path']): DataFault[] {
  if (!FIELD_NAME.test(name))
    return [
      { path, atKey: true, message: `"${printable(name)}" is not a field name`, hint: 'for example authorization' },
    ];
  if (EXPORTERS_FIELDS.has(name.toLowerCase()))
    return [{ path, atKey: true, message: 'is set by the exporter', hint: 'remove it' }];
  if (!isMapping(value)) return [];
  const sourceCount = ['file', 'env'].filter((key) => value[key] !== undefined).length;
  if (sourceCount === 1) return [];
  return sourceCount === 0
    ? [{ path, message: 'is empty', hint: 'write { file: PATH } or { env: NAME }' }]
    : [{ path, message: 'has two sources', hint: 'keep `file` or `env`' }];
}
