import { fileURLToPath } from 'node:url';
import type { Placement, Program } from './target.ts';

/** A Node library behind the small server script of its name in bench/peers/. */
export function prepareNodePeer(name: string, { port, originPort }: Placement): Program {
  const script = fileURLToPath(new URL(`../peers/${name}.ts`, import.meta.url));
  return { file: process.execPath, arguments: [script, String(port), `http://127.0.0.1:${originPort}`] };
}
