import type { z } from 'zod';
import type { ConfigFault, DataFault, DataPath } from '../fault.ts';
import { formatPath, printable } from '../fault.ts';
import { isMapping } from '../plain-data.ts';
import { faultsOfIssues } from '../schema-faults.ts';
import type { ResourceCondition } from './condition.ts';
import { condition } from './condition.ts';
import type { Resource } from './resource.ts';
import { isIgnoredField } from './schema/parts.ts';

/** Where everything that is found out about the resources goes. */
export interface Report {
  readonly conditions: ResourceCondition[];
  readonly faults: ConfigFault[];
  /** Names of what an API server would not have taken. */
  readonly refused: string[];
}

/**
 * A resource as its schema reads it. Fields that nobody knows, and fields that have no effect here, are told and left
 * out, as an API server leaves them out. Anything else an API server would refuse makes the whole resource `undefined`,
 * with a condition `Accepted=False Invalid`.
 */
export function readSpec<Spec>(resource: Resource, schema: z.ZodType<Spec>, report: Report): Spec | undefined {
  let { data }: { data: unknown } = resource;
  let result = schema.safeParse(data);
  if (!result.success) {
    const ignored = result.error.issues.filter((issue) => issue.code === 'unrecognized_keys' || isIgnoredField(issue));
    if (ignored.length > 0) {
      tell(resource, faultsOfIssues(ignored, schema, data), report, ': it is ignored');
      data = without(
        data,
        ignored.flatMap((issue) => {
          const path = issue.path as DataPath;
          return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path];
        }),
      );
      result = schema.safeParse(data);
    }
  }
  if (result.success) return result.data;
  const faults = faultsOfIssues(result.error.issues, schema, data);
  tell(resource, faults, report, '');
  const [first] = faults;
  report.refused.push(`${resource.kind} ${resource.namespace}/${resource.name}`);
  report.conditions.push(
    condition(resource, 'Accepted', 'False', 'Invalid', {
      path: first?.path ?? [],
      message: `${first?.message ?? 'is not valid'}${faults.length > 1 ? `, and ${faults.length - 1} more` : ''}; the whole resource is left out, as an API server would`,
    }),
  );
  return undefined;
}

function tell(resource: Resource, faults: readonly DataFault[], report: Report, note: string): void {
  for (const { path, atKey, message, hint } of faults) {
    const name = resource.namespace === '' ? resource.name : `${resource.namespace}/${resource.name}`;
    report.faults.push({
      severity: 'error',
      ...resource.placeOf(path, atKey === true),
      path: printable(formatPath(path), 160),
      message: `${message.replace('is not a known setting', 'is not a known field')}${note}`,
      hint: [`${resource.kind} ${name}`, hint].filter((part) => part !== '').join('; '),
    });
  }
}

/** A copy without what stands at the paths. */
function without(data: unknown, paths: readonly DataPath[]): unknown {
  if (paths.length === 0) return data;
  const below = (key: string | number): DataPath[] =>
    paths.filter((path) => path[0] === key && path.length > 1).map((path) => path.slice(1));
  const gone = (key: string | number): boolean => paths.some((path) => path.length === 1 && path[0] === key);
  if (Array.isArray(data)) return data.map((item, index) => without(item, below(index)));
  if (!isMapping(data)) return data;
  return Object.fromEntries(
    Object.entries(data)
      .filter(([key]) => !gone(key))
      .map(([key, value]) => [key, without(value, below(key))]),
  );
}
