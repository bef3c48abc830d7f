import type { EdgeClass } from '../core/ownership/outbound.ts';
import type { OwnershipMode } from '../core/retry-policy.ts';
import type { EdgeSettings, ServiceSettings } from './settings.ts';

/** What the settings say of an edge; of several that name it the first holds. */
export interface EdgeRules {
  classOf(inbound: string, callee: string): EdgeClass | undefined;
  modeOf(inbound: string | undefined, callee: string): OwnershipMode;
}

export function edgeRules({ edges, mode }: ServiceSettings): EdgeRules {
  return {
    classOf(inbound, callee) {
      return edges.find((edge) => edge.class !== undefined && names(edge, inbound, callee))?.class;
    },
    modeOf(inbound, callee) {
      return edges.find((edge) => edge.mode !== undefined && names(edge, inbound, callee))?.mode ?? mode;
    },
  };
}

function names({ from, to }: EdgeSettings, inbound: string | undefined, callee: string): boolean {
  if (from !== undefined && from !== inbound) return false;
  return to.endsWith('*') ? callee.startsWith(to.slice(0, -1)) : callee === to;
}
