import { isIP } from 'node:net';

/** Whether only this machine reaches the host: `localhost`, 127.0.0.0/8, ::1, and the latter two written as the other. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  if (name === 'localhost' || name === '::1') return true;
  const four = name.startsWith('::ffff:') ? name.slice('::ffff:'.length) : name;
  return isIP(four) === 4 && four.startsWith('127.');
}
