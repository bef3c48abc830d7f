import type { Workspace } from '../harness/workspace.ts';

export const targetNames = [
  'mulligan',
  'mulligan-log',
  'mulligan-seen',
  'nginx',
  'haproxy',
  'fast-proxy',
  'reply-from',
  'http-proxy-3',
] as const;
export type TargetName = (typeof targetNames)[number];

/** The peers among which the best Node library is looked for. */
export const nodeLibraryNames: readonly TargetName[] = ['fast-proxy', 'reply-from', 'http-proxy-3'];

/** Where a proxy under test listens and what it forwards to, both on 127.0.0.1. */
export interface Placement {
  readonly workspace: Workspace;
  readonly port: number;
  readonly originPort: number;
  /** The script that runs mulligan. */
  readonly gatewayScript: string;
}

/** Program and arguments that run a proxy in the foreground; its configuration lies in the workspace already. */
export interface Program {
  readonly file: string;
  readonly arguments: readonly string[];
}
