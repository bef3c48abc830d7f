import { measureChain } from '../../../src/cli/chain/chain.ts';
import { FAIR_PLAN } from '../../../src/cli/chain/link-plan.ts';
import { near, threeErrors, within, type Row } from '../../storms/reproduction.ts';
import type { Experiment, ExperimentCase, Measured } from '../experiment.ts';

const REQUEST_COUNT = 2000;
const SHARE = 0.1;

/**
 * A fails by itself in 10 of 100 requests. It calls B and C, which it can do without, and which fail as often, each for
 * reasons of its own, and relay that. Each error of A that it relays, too, is a retry that its caller does not make.
 */
export const coincidence: Experiment = {
  id: 'coincidence',
  cases: [
    coincidenceCase('every failed call is blamed', 'blaming', (name, { failedCount }, wrong) => {
      const share = 1 - (1 - SHARE) ** 2;
      return near(name, 10 * share, wrong, 10 * threeErrors(share, failedCount));
    }),
    coincidenceCase('its memory tells', 'learning', (name, _, wrong) => within(name, 0, 0.4, wrong)),
    coincidenceCase('its errors name their cause', 'naming', (name, _, wrong) => within(name, 0, 0.2, wrong)),
  ],
};

function coincidenceCase(
  name: string,
  kind: 'blaming' | 'learning' | 'naming',
  judge: (what: string, measured: Measured, wrong: number) => Row,
): ExperimentCase {
  const kinds = [kind, 'raw-relays', 'raw-relays'] as const;
  return {
    name,
    kinds,
    async measure(pool, signal) {
      const [first, ...others] = await pool.path(kinds, signal);
      await Promise.all(others.map((link, index) => link.plan({ ...FAIR_PLAN, errorShare: SHARE, seed: 11 + index })));
      const plan = {
        ...FAIR_PLAN,
        optionalUrls: others.map(({ url }) => url),
        errorShare: SHARE,
        namesCause: kind === 'naming',
        // With this one B and C fail beside A while nothing is known of them yet.
        seed: 20,
        retryCount: 0,
      };
      return measureChain([first!], { planOf: () => plan, requestCount: REQUEST_COUNT, signal });
    },
    judge(measured) {
      const { failedCount, readings } = measured;
      const wrong = (10 * readings[0]!.relayedCount) / failedCount;
      return {
        loads: [],
        rows: [
          within(`${name}: errors of its own, of ${REQUEST_COUNT} requests`, 160, 240, failedCount),
          within(`${name}: claims of B and C that it believed`, 340, 460, readings[0]!.obeyedCount),
          judge(`${name}: relayed by mistake, of ten errors`, measured, wrong),
        ],
      };
    },
  };
}
