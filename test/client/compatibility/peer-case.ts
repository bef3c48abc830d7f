import type { TestContext } from 'node:test';

/** One case of another project's test suite, run on ours: the case, not its code. */
export interface PeerCase {
  readonly name: string;
  /** What their suite expects, or what was seen when the case was run on theirs. */
  readonly theirs: string;
  /** What `run` must come to. */
  readonly ours: string;
  /** Why ours differs on purpose. */
  readonly why?: string | undefined;
  run(t: TestContext): string | Promise<string>;
}

export interface PeerSuite {
  readonly title: string;
  readonly cases: readonly PeerCase[];
}
