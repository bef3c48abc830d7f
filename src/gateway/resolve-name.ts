import { ADDRCONFIG } from 'node:dns';
import { lookup } from 'node:dns/promises';

/** Every IPv4 and IPv6 address of a host name. Rejects with the resolver's error; an answer without addresses is one too. */
export type ResolveName = (host: string) => Promise<readonly string[]>;

/**
 * Questions at the same time. The system's resolver blocks a thread of the pool that also writes the access log: with
 * dead name servers, all four of them.
 */
const maxQuestions = 2;

/**
 * Asks as every program of this machine does: hosts file, search domains, name service switch. It does not tell how long
 * an answer may be kept, so how often to ask is for the configuration to say.
 */
export function createSystemResolver(): ResolveName {
  let free = maxQuestions;
  const waiting: (() => void)[] = [];
  return async (host) => {
    if (free > 0) free -= 1;
    else
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    try {
      const found = await lookup(host, { all: true, verbatim: true, hints: ADDRCONFIG });
      return found.map(({ address }) => address);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
