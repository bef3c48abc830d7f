import { readAddress } from './address.ts';
import type { DataFault, DataPath } from './fault.ts';
import type { Mapping } from './plain-data.ts';
import { isMapping, list, mapping } from './plain-data.ts';
import { tlsFileFaults } from './tls-checks.ts';
import type { TlsFiles } from './tls-files.ts';

/** Addresses that are there twice, and certificates that cannot serve. */
export function listenerFaults(listeners: readonly unknown[], files?: TlsFiles): DataFault[] {
  const faults: DataFault[] = [];
  const seen = new Map<string, number>();
  listeners.forEach((value, index) => {
    const { address, tls } = mapping(value);
    if (isMapping(tls)) faults.push(...tlsFaults(['listeners', index, 'tls'], tls, files));
    const reading = readAddress(address, 'listener');
    if (!reading.ok || reading.value.port === 0) return;
    const first = seen.get(reading.value.key);
    if (first === undefined) seen.set(reading.value.key, index);
    else
      faults.push({
        path: ['listeners', index, 'address'],
        message: `is the address of listeners[${first}] too`,
        hint: 'remove one of the two',
      });
  });
  return faults;
}

function tlsFaults(path: DataPath, tls: Mapping, files: TlsFiles | undefined): DataFault[] {
  const { cert, key, certificates } = tls;
  const isSingle = cert !== undefined || key !== undefined;
  if (certificates === undefined) {
    if (isSingle) return tlsFileFaults(path, tls, 'clientCa', files);
    return [{ path, message: 'names no certificate', hint: 'for example { cert: server.pem, key: server.key }' }];
  }
  const faults = list(certificates).flatMap((one, index) =>
    tlsFileFaults([...path, 'certificates', index], mapping(one), 'clientCa', files),
  );
  if (isSingle)
    faults.push({
      path: [...path, 'certificates'],
      atKey: true,
      message: 'stands beside cert and key',
      hint: 'make that pair the first of the certificates',
    });
  else faults.push(...tlsFileFaults(path, tls, 'clientCa', files));
  return [...faults, ...hostFaults([...path, 'certificates'], list(certificates))];
}

function hostFaults(path: DataPath, certificates: readonly unknown[]): DataFault[] {
  const faults: DataFault[] = [];
  const seen = new Map<string, number>();
  certificates.forEach((value, index) => {
    list(mapping(value)['hosts']).forEach((host, at) => {
      if (typeof host !== 'string') return;
      const first = seen.get(host.toLowerCase());
      if (first === undefined) seen.set(host.toLowerCase(), index);
      else
        faults.push({
          path: [...path, index, 'hosts', at],
          message: `is a name of certificates[${first}] too`,
          hint: 'a client that asks for it can get one certificate only',
        });
    });
  });
  return faults;
}
