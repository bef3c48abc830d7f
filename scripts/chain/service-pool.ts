import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLinks, stopLinks } from '../../src/cli/chain/chain.ts';
import type { LinkProcess } from '../../src/cli/chain/link-process.ts';
import { startOf, type ServiceKind } from './service-kind.ts';

/** Services that were started for one experiment and are used again by the next. */
export class ServicePool {
  #cacheFolder: string | undefined;
  readonly #links = new Map<string, LinkProcess>();

  /** A service for each place; those that do not run yet are started. */
  async path(kinds: readonly ServiceKind[], signal: AbortSignal): Promise<readonly LinkProcess[]> {
    const names = kinds.map(
      (kind, index) => `${kind} ${String(kinds.slice(0, index).filter((k) => k === kind).length)}`,
    );
    const missing = kinds.flatMap((kind, index) =>
      this.#links.has(names[index]!) ? [] : [{ kind, name: names[index]! }],
    );
    const cacheFolder = (this.#cacheFolder ??= mkdtempSync(join(tmpdir(), 'mulligan-chain-')));
    const started = await startLinks(
      missing.map(({ kind, name }) => startOf(kind, name, cacheFolder)),
      signal,
    );
    for (const link of started) this.#links.set(link.name, link);
    return names.map((name) => this.#links.get(name)!);
  }

  /** Ends the services that are of none of these kinds. */
  async keepOnly(kinds: ReadonlySet<string>): Promise<void> {
    const ended = [...this.#links].filter(([name]) => !kinds.has(name.slice(0, name.lastIndexOf(' '))));
    for (const [name] of ended) this.#links.delete(name);
    await stopLinks(ended.map(([, link]) => link));
  }

  async close(): Promise<void> {
    await this.keepOnly(new Set());
    if (this.#cacheFolder !== undefined) rmSync(this.#cacheFolder, { recursive: true, force: true });
  }
}
