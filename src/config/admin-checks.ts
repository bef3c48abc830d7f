import { readAddress } from './address.ts';
import { defaults } from './defaults.ts';
import type { DataFault } from './fault.ts';
import { isLoopback } from './loopback.ts';
import type { Mapping } from './plain-data.ts';
import { isMapping, list, mapping } from './plain-data.ts';

/** Who could reach the admin interface, and what they could do there. */
export function adminFaults(admin: Mapping, listeners: readonly unknown[]): DataFault[] {
  const faults: DataFault[] = [];
  const reading = readAddress(admin['address'] ?? defaults.admin.address, 'listener');
  const isPublic = admin['public'] === true;
  if (reading.ok) {
    const { host, port, key } = reading.value;
    if (!isLoopback(host) && !isPublic)
      faults.push({
        path: ['admin', 'address'],
        message: 'can be reached from other machines',
        hint: `listen on 127.0.0.1:${port}, or say that you mean it: public: true`,
      });
    const same = listeners.findIndex((value) => {
      const other = readAddress(mapping(value)['address'], 'listener');
      return port !== 0 && other.ok && other.value.key === key;
    });
    if (same !== -1)
      faults.push({
        path: admin['address'] === undefined ? ['admin'] : ['admin', 'address'],
        message: `${key} is the address of listeners[${same}] too`,
        hint: 'give it a port of its own: clients must not reach it',
      });
  }
  const { token } = admin;
  if (isMapping(token) && Object.keys(token).length === 0)
    faults.push({ path: ['admin', 'token'], message: 'is empty', hint: 'write { file: PATH } or { env: NAME }' });
  if (isMapping(token) && token['file'] !== undefined && token['env'] !== undefined)
    faults.push({ path: ['admin', 'token'], message: 'has two sources', hint: 'keep `file` or `env`' });
  if (isPublic && token === undefined) faults.push(unguarded(admin));
  return [...faults, ...repeatedHosts(list(admin['hosts']))];
}

function unguarded(admin: Mapping): DataFault {
  if (admin['write'] === true)
    return {
      path: ['admin', 'write'],
      message: 'lets everybody who reaches the public address change things',
      hint: 'add token: { file: PATH }, or remove `write`',
    };
  return {
    severity: 'warning',
    path: ['admin', 'public'],
    message: 'everybody who reaches the address may read the configuration and the events',
    hint: 'add token: { file: PATH }',
  };
}

function repeatedHosts(hosts: readonly unknown[]): DataFault[] {
  return hosts.flatMap((host, index) =>
    hosts.indexOf(host) === index
      ? []
      : [{ path: ['admin', 'hosts', index], message: 'is there twice', hint: 'remove one of the two' }],
  );
}
