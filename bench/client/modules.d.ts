// The parts of other clients' interfaces that `ways.ts` uses. Written out so that the type check also works in a checkout
// where `npm ci --prefix bench` has not run.
declare module 'got' {
  import type { Agent } from 'node:http';

  export default function got(url: string, options: { agent: { http: Agent } }): { text(): Promise<string> };
}

declare module 'ky' {
  export default function ky(url: string): { text(): Promise<string> };
}
