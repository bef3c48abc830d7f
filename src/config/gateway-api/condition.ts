import type { DataPath } from '../fault.ts';
import { formatPath, printable } from '../fault.ts';
import type { Resource } from './resource.ts';

export type ConditionType = 'Accepted' | 'ResolvedRefs' | 'Programmed' | 'Conflicted' | 'PartiallyInvalid';

/** What a Kubernetes controller would write into a resource's status, with the place in the file that it is about. */
export interface ResourceCondition {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** The listener of a Gateway, the parent of a route or the target of a policy that is meant; empty: the resource as a whole. */
  readonly section: string;
  readonly type: ConditionType;
  readonly status: 'True' | 'False';
  /** CamelCase, the Gateway API's own where it has one. */
  readonly reason: string;
  /** What is wrong and what to do; empty when nothing is. */
  readonly message: string;
  /** `spec.rules[0].retry`; empty when no field is meant. */
  readonly path: string;
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 units. */
  readonly column: number;
}

export interface ConditionOptions {
  readonly section?: string;
  readonly path?: DataPath;
  /** Point at the key instead of its value. */
  readonly atKey?: boolean;
  readonly message?: string;
}

export function condition(
  resource: Resource,
  type: ConditionType,
  status: 'True' | 'False',
  reason: string,
  { section = '', path = [], atKey = false, message = '' }: ConditionOptions = {},
): ResourceCondition {
  const { kind, namespace, name } = resource;
  return {
    kind,
    namespace,
    name,
    section,
    type,
    status,
    reason,
    message: printable(message, 400),
    path: printable(formatPath(path), 160),
    ...resource.placeOf(path, atKey),
  };
}

/** The two types whose `True` is the bad news. */
const badWhenTrue: ReadonlySet<ConditionType> = new Set<ConditionType>(['Conflicted', 'PartiallyInvalid']);

/** Whether the condition says that something of the resource is not in effect. */
export function isTrouble({ type, status }: ResourceCondition): boolean {
  return (status === 'True') === badWhenTrue.has(type);
}

/** `file:line:column HTTPRoute shop/orders parent edge: Accepted=False NoMatchingParent: path: message`, one line. */
export function formatCondition(one: ResourceCondition): string {
  const section = one.section === '' ? '' : ` ${one.section}`;
  const path = one.path === '' ? '' : ` ${one.path}:`;
  const message = one.message === '' ? '' : ` ${one.message}`;
  const colon = path === '' && message === '' ? '' : ':';
  const name = one.namespace === '' ? one.name : `${one.namespace}/${one.name}`;
  return `${one.file}:${one.line}:${one.column} ${one.kind} ${name}${section} ${one.type}=${one.status} ${one.reason}${colon}${path}${message}`;
}
