import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Field, Target } from '../targets/field.ts';
import { largeBody, requestFields, smallBody } from './workload.ts';

/** How long a target may take until it answers for the first time. */
const startTimeoutMs = 60_000;

/**
 * Proves that the origin and every target are up and answer with status 200 and the exact bodies, twice over one kept
 * connection: a fast error page, or a connection a request, would win or lose the comparison unseen. Throws otherwise.
 */
export async function smokeCheck(field: Field): Promise<void> {
  const origin = { name: 'origin', port: field.originPort, service: field.origin };
  for (const target of [origin, ...field.targets]) {
    await waitUntilListening(target);
    for (const [path, body] of [
      ['/small', Buffer.from(smallBody)],
      ['/large', largeBody],
    ] as const)
      await checkAnswers(target, path, body);
  }
}

type Checked = Pick<Target, 'port' | 'service'> & { readonly name: string };

async function waitUntilListening(target: Checked): Promise<void> {
  const giveUpAt = performance.now() + startTimeoutMs;
  for (;;) {
    target.service.assertAlive();
    try {
      const agent = new Agent();
      await fetchOnce(target, '/small', agent);
      agent.destroy();
      return;
    } catch (error) {
      if (performance.now() > giveUpAt)
        throw new Error(
          `${target.name} did not answer on port ${target.port} within ${startTimeoutMs} ms: ${String(error)}`,
          { cause: error },
        );
      await sleep(50);
    }
  }
}

async function checkAnswers(target: Checked, path: string, expected: Uint8Array): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (let turn = 1; turn <= 2; turn++) {
      const answer = await fetchOnce(target, path, agent);
      const where = `${target.name}, answer ${turn} to GET ${path}`;
      if (answer.status !== 200)
        throw new Error(`${where}: status ${answer.status} instead of 200: ${answer.body.toString('utf8', 0, 300)}`);
      if (answer.body.compare(expected) !== 0)
        throw new Error(`${where}: the ${answer.body.length} bytes of body are not the origin's ${expected.length}`);
      if (turn === 2 && !answer.isReused)
        throw new Error(`${where}: came over a new connection, the target does not keep them`);
    }
  } finally {
    agent.destroy();
  }
}

function fetchOnce(
  target: Checked,
  path: string,
  agent: Agent,
): Promise<{ status: number; body: Buffer; isReused: boolean }> {
  return new Promise((resolve, reject) => {
    const request = get(
      { host: '127.0.0.1', port: target.port, path, agent, headers: requestFields, timeout: 20_000 },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces), isReused: request.reusedSocket }),
        );
      },
    );
    request.on('timeout', () => request.destroy(new Error('no answer within 20 s')));
    request.on('error', reject);
  });
}
