import type { Topology, TopologyFault } from './topology.ts';

/** `payment: 20 % answered 503, 1 of 3 instances` */
export function describeFault(fault: TopologyFault, { services, operations }: Topology): string {
  const service = services[fault.service]!;
  const place = fault.operation === undefined ? service.name : operations[fault.operation]!.name;
  const share =
    fault.instanceCount < service.instanceCount ? `, ${fault.instanceCount} of ${service.instanceCount} instances` : '';
  return `${place}: ${whatOf(fault)}${share}`;
}

function whatOf({ effect }: TopologyFault): string {
  switch (effect.kind) {
    case 'errors':
      return `${percent(effect.ratio)} answered ${effect.status}`;
    case 'outage':
      return effect.how === 'refused' ? 'connections refused' : 'hangs';
    case 'capacity':
      return `${percent(effect.ratio)} of the workers`;
    case 'latency': {
      const factor = effect.factor === 1 ? [] : [`${effect.factor} times as slow`];
      const added = effect.addMs === 0 ? [] : [`${effect.addMs} ms slower`];
      const loaded = effect.loadRatio === 0 ? [] : [`${percent(effect.loadRatio)} slower for each other request`];
      return [...factor, ...loaded, ...added].join(' and ');
    }
  }
}

function percent(ratio: number): string {
  return `${Math.round(ratio * 1e6) / 1e4} %`;
}
