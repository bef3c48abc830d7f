import { Agent, request } from 'undici';
import { retryOptions, type MakeCaller } from '../../../src/cli/chain/link-caller.ts';
import { retry } from '../../../src/client/interceptor/retry.ts';
import { wrapFetch } from '../../../src/client/wrap-fetch.ts';

/** By undici, with mulligan's interceptor. */
export const interceptorCaller: MakeCaller = (plan) => {
  const agent = new Agent();
  const dispatcher = agent.compose(retry({ ...retryOptions(plan), timeout: { attemptMs: plan.attemptMs } }));
  return {
    async call(url) {
      const { statusCode, body } = await request(url, { dispatcher });
      await body.dump();
      return statusCode;
    },
    close: () => void agent.destroy(),
  };
};

/** By the fetch that Node brings, with mulligan around it. */
export const layerCaller: MakeCaller = (plan) => {
  const call = wrapFetch(globalThis.fetch, { ...retryOptions(plan), timeout: { attemptMs: plan.attemptMs } });
  return {
    async call(url) {
      const response = await call(url);
      await response.arrayBuffer();
      return response.status;
    },
    close() {},
  };
};
