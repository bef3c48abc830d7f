import type { ConfigFault, DataPath } from '../fault.ts';
import { formatPath, printable } from '../fault.ts';
import { isMapping, mapping } from '../plain-data.ts';
import type { Mapping } from '../plain-data.ts';
import { placesIn } from '../text-places.ts';
import { readYamlDocuments } from '../yaml-source.ts';

/** A file of the folder. */
export interface ManifestFile {
  /** What faults call it. */
  readonly name: string;
  readonly text: string;
}

export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A Kubernetes resource of a kind that is read here, as it stands in a file. */
export interface Resource {
  readonly kind: ResourceKind;
  /** Empty for kinds that have none. */
  readonly namespace: string;
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Milliseconds since 1970; infinite when the file does not say: such a resource counts as new. */
  readonly createdAtMs: number;
  readonly data: Mapping;
  placeOf(path: DataPath, atKey?: boolean): Place;
}

export type ResourceKind =
  | 'Gateway'
  | 'HTTPRoute'
  | 'ReferenceGrant'
  | 'BackendTrafficPolicy'
  | 'Service'
  | 'EndpointSlice'
  | 'Namespace';

/** `group/Kind` of what is read. */
const kinds: Readonly<Record<string, ResourceKind>> = {
  'gateway.networking.k8s.io/Gateway': 'Gateway',
  'gateway.networking.k8s.io/HTTPRoute': 'HTTPRoute',
  'gateway.networking.k8s.io/ReferenceGrant': 'ReferenceGrant',
  'gateway.networking.k8s.io/BackendTrafficPolicy': 'BackendTrafficPolicy',
  'gateway.networking.x-k8s.io/BackendTrafficPolicy': 'BackendTrafficPolicy',
  'gateway.networking.x-k8s.io/XBackendTrafficPolicy': 'BackendTrafficPolicy',
  '/Service': 'Service',
  '/Namespace': 'Namespace',
  'discovery.k8s.io/EndpointSlice': 'EndpointSlice',
};

export interface ReadResources {
  readonly resources: readonly Resource[];
  readonly faults: readonly ConfigFault[];
  /** Files that could not be read whole. */
  readonly brokenFiles: ReadonlySet<string>;
}

/** Every resource of the files, in their order; `List`s opened. What cannot be read is told and left out. */
export function readResources(files: readonly ManifestFile[]): ReadResources {
  const reader = new ResourceReader();
  for (const file of files) reader.read(file);
  const brokenFiles = new Set(reader.faults.map(({ file }) => file));
  return {
    resources: [...reader.resources.values()],
    faults: [...reader.faults, ...reader.ignoredNotes()],
    brokenFiles,
  };
}

class ResourceReader {
  readonly resources = new Map<string, Resource>();
  readonly faults: ConfigFault[] = [];
  readonly #ignored = new Map<string, { count: number; readonly place: Place }>();

  read({ name, text }: ManifestFile): void {
    const placeAt = placesIn(text);
    for (const source of readYamlDocuments(text)) {
      for (const { offset, path, message, hint } of source.faults)
        this.faults.push(fault({ file: name, ...placeAt(offset) }, path, message, hint));
      if (source.data === undefined) continue;
      this.#take(source.data, [], (path, atKey = false) => ({ file: name, ...placeAt(source.offsetOf(path, atKey)) }));
    }
  }

  /** @param at Where the resource stands in its document: empty, or within a List. */
  #take(data: unknown, at: DataPath, placeIn: Resource['placeOf']): void {
    const placeOf: Resource['placeOf'] = (path, atKey) => placeIn([...at, ...path], atKey);
    const bad = (path: DataPath, message: string, hint: string): void =>
      void this.faults.push(fault(placeOf(path), path, message, hint));
    if (!isMapping(data)) return bad([], 'is not a Kubernetes resource', 'it has apiVersion, kind, metadata and spec');
    const { apiVersion, kind } = data;
    if (typeof apiVersion !== 'string' || typeof kind !== 'string' || apiVersion === '' || kind === '')
      return bad([], 'is not a Kubernetes resource', 'give it apiVersion and kind');
    if (kind.endsWith('List') && Array.isArray(data['items'])) {
      for (const [index, item] of data['items'].entries()) this.#take(item, [...at, 'items', index], placeIn);
      return;
    }
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    const known = kinds[`${group}/${kind}`];
    if (known === undefined) return this.#ignore(group === '' ? kind : `${kind} (${group})`, placeOf([]));
    const metadata = mapping(data['metadata']);
    const name = metadata['name'];
    if (typeof name !== 'string' || name === '') return bad(['metadata'], `${kind} has no name`, 'give metadata.name');
    const { namespace: given } = metadata;
    const namespace = known === 'Namespace' ? '' : typeof given === 'string' && given !== '' ? given : 'default';
    const key = `${known} ${namespace}/${name}`;
    if (this.resources.has(key))
      return bad(
        ['metadata', 'name'],
        `${kind} ${namespace}/${name} is there twice`,
        'the first one counts: remove one',
      );
    this.resources.set(key, {
      kind: known,
      namespace,
      name,
      labels: labelsOf(metadata['labels']),
      createdAtMs: timeOf(metadata['creationTimestamp']),
      data,
      placeOf,
    });
  }

  #ignore(what: string, place: Place): void {
    const known = this.#ignored.get(what);
    if (known === undefined) this.#ignored.set(what, { count: 1, place });
    else known.count += 1;
  }

  ignoredNotes(): ConfigFault[] {
    return [...this.#ignored].map(([what, { count, place }]) => ({
      severity: 'warning' as const,
      file: place.file,
      line: place.line,
      column: place.column,
      path: '',
      message: `${printable(what)} is not a kind that is read here: ${count === 1 ? 'it is' : `all ${count} are`} ignored`,
      hint: '',
    }));
  }
}

function fault(place: Place, path: DataPath, message: string, hint: string): ConfigFault {
  return { severity: 'error', ...place, path: printable(formatPath(path), 160), message, hint };
}

function labelsOf(value: unknown): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(mapping(value)).flatMap(([label, text]) =>
      typeof text === 'string' ? [[label, text] as const] : [],
    ),
  );
}

function timeOf(value: unknown): number {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? Infinity : time;
}
