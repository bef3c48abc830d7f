import { createProxy } from '../../src/proxy/index.ts';

/** A proxy that answers by itself, in a process of its own: what grows here grew by a flood. */
const proxy = createProxy({
  requestFilter: () => ({ status: 200, body: 'served\n' }),
});
const { address } = await proxy.listen('127.0.0.1:0');

let peakBytes = 0;
setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 20);

process.on('message', (message) => {
  if (message === 'settle') {
    globalThis.gc?.();
    peakBytes = process.memoryUsage.rss();
  }
  process.send?.({ rssBytes: process.memoryUsage.rss(), peakBytes, refused: [...proxy.refusedConnectionCounts] });
});
process.send?.({ port: address.port });
