import type { Report } from './read-spec.ts';
import { readSpec } from './read-spec.ts';
import type { Resource } from './resource.ts';
import { referenceGrant } from './schema/cluster.ts';

/** Whether an HTTPRoute may refer to a Service of another namespace: a ReferenceGrant there must say so. */
export function createGrants(
  resources: readonly Resource[],
  report: Report,
): (from: Resource, to: { readonly namespace: string; readonly name: string }) => boolean {
  const grants = resources
    .filter(({ kind }) => kind === 'ReferenceGrant')
    .flatMap((resource) => {
      const read = readSpec(resource, referenceGrant, report);
      return read === undefined ? [] : [{ namespace: resource.namespace, ...read.spec }];
    });
  return (from, { namespace, name }) =>
    grants.some(
      (grant) =>
        grant.namespace === namespace &&
        grant.from.some(
          (one) =>
            one.group === 'gateway.networking.k8s.io' && one.kind === from.kind && one.namespace === from.namespace,
        ) &&
        grant.to.some(
          (one) => one.group === '' && one.kind === 'Service' && (one.name === undefined || one.name === name),
        ),
    );
}
