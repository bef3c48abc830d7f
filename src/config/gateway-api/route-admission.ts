import type { Resource } from './resource.ts';
import type { LabelSelector, ListenerSpec } from './schema/gateway.ts';

type Namespaces = ListenerSpec['allowedRoutes']['namespaces'];

/** Makes the tests that listeners put to the namespaces of routes. `Selector` looks at the labels of Namespace resources. */
export function createRouteAdmission(
  resources: readonly Resource[],
): (gatewayNamespace: string, allowed: Namespaces) => (namespace: string) => boolean {
  const labels = new Map<string, Resource['labels']>();
  for (const resource of resources) {
    if (resource.kind === 'Namespace') labels.set(resource.name, resource.labels);
  }
  return (gatewayNamespace, { from, selector }) =>
    (namespace) => {
      switch (from) {
        case 'All':
          return true;
        case 'None':
          return false;
        case 'Same':
          return namespace === gatewayNamespace;
        case 'Selector':
          // Kubernetes itself puts this label on every namespace.
          return selects(
            selector ?? {},
            new Map([...(labels.get(namespace) ?? []), ['kubernetes.io/metadata.name', namespace]]),
          );
      }
    };
}

function selects({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Resource['labels']): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels.get(key) === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels.get(key);
      switch (operator) {
        case 'In':
          return value !== undefined && values.includes(value);
        case 'NotIn':
          return value === undefined || !values.includes(value);
        case 'Exists':
          return value !== undefined;
        case 'DoesNotExist':
          return value === undefined;
      }
    })
  );
}
