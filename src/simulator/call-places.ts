import type { DataPath } from '../config/fault.ts';
import { formatPath } from '../config/fault.ts';
import { placesIn } from '../config/text-places.ts';
import { readYaml } from '../config/yaml-source.ts';
import type { TopologySource } from './topology-source.ts';

/** Tells where in a YAML text a call of its topology stands. @param callPaths Of each call, in the topology's order. */
export function callPlaces(text: string, callPaths: readonly DataPath[]): TopologySource['placeOfCall'] {
  const yaml = readYaml(text);
  const placeOf = placesIn(text);
  return (call) => {
    const path = callPaths[call] ?? [];
    return { ...placeOf(yaml.offsetOf(path, false)), path: formatPath(path) };
  };
}
