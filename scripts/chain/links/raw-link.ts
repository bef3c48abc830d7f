/**
 * A service in the place of one in another language: HTTP by hand on sockets, without a line of mulligan. RAW_CLAIM says what it
 * does with `Error-Claim`: it passes on what it was told (`passes`), drops it (`drops`), or says `relayed` of every error of its
 * own (`relays`), as a service does whose own callee was retried.
 */
import { connect, createServer } from 'node:net';
import { FAIR_PLAN, type LinkPlan } from '../../../src/cli/chain/link-plan.ts';
import { readingOf } from '../../../src/cli/chain/link-reading.ts';
import { runLink } from '../../../src/cli/chain/link-server.ts';
import { Random } from '../../../src/simulator/random.ts';

interface Answer {
  readonly status: number;
  readonly claim: string | undefined;
}

const claimRule = process.env['RAW_CLAIM'] ?? 'drops';
let plan: LinkPlan = FAIR_PLAN;
let random = new Random(1, 1);
let servedCount = 0;
let busyCount = 0;

async function serve(): Promise<Answer> {
  servedCount += 1;
  busyCount += 1;
  const fails = plan.errorShare >= 1 || (plan.errorShare > 0 && random.next() < plan.errorShare);
  const below = await callNext();
  busyCount -= 1;
  if (below.status >= 500) return { status: 502, claim: claimRule === 'passes' ? below.claim : undefined };
  return { status: fails ? 500 : 200, claim: fails && claimRule === 'relays' ? 'relayed;hops=1' : undefined };
}

/** Its own loop: as many attempts as its plan says, whatever anybody claims. */
async function callNext(): Promise<Answer> {
  let answer: Answer = { status: 200, claim: undefined };
  if (plan.nextUrl === undefined) return answer;
  const { port } = new URL(plan.nextUrl);
  for (let attempt = 0; attempt <= plan.retryCount; attempt += 1) {
    answer = await ask(Number(port));
    if (answer.status < 500) break;
  }
  return answer;
}

function ask(port: number): Promise<Answer> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${String(port)}\r\nConnection: close\r\n\r\n`);
    });
    socket.setEncoding('latin1').on('data', (part: string) => (text += part));
    socket.on('error', () => {});
    socket.on('close', () =>
      resolve({
        status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 502),
        claim: /^error-claim: (.*)$/im.exec(text)?.[1]?.trim(),
      }),
    );
  });
}

const server = createServer((socket) => {
  let text = '';
  socket.on('error', () => {});
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
    for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
      text = text.slice(end + 4);
      void serve().then(({ status, claim }) => {
        const field = claim === undefined ? '' : `Error-Claim: ${claim}\r\n`;
        socket.write(`HTTP/1.1 ${String(status)} x\r\nContent-Length: 1\r\n${field}\r\nx`);
      });
    }
  });
});

const link = {
  take(given: LinkPlan): void {
    plan = given;
    random = new Random(plan.seed, 1);
    servedCount = 0;
  },
  read: () => ({ ...readingOf(undefined), servedCount, busyCount }),
};
await runLink(link, server);
