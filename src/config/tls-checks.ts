import type { DataFault, DataPath } from './fault.ts';
import type { Mapping } from './plain-data.ts';
import type { TlsFileKind, TlsFiles } from './tls-files.ts';

/**
 * `cert` and `key` belong together; and where files can be looked at, each holds what it is named for.
 * @param authorities The field that names authorities: `ca`, or `clientCa`.
 */
export function tlsFileFaults(
  path: DataPath,
  tls: Mapping,
  authorities: string,
  files: TlsFiles | undefined,
): DataFault[] {
  const { cert, key } = tls;
  if ((cert === undefined) !== (key === undefined))
    return [
      {
        path,
        message: cert === undefined ? 'has a key without its certificate' : 'has a certificate without its key',
        hint: 'name both files: cert and key',
      },
    ];
  if (files === undefined) return [];
  const kinds: readonly (readonly [string, TlsFileKind])[] = [
    ['cert', 'certificate'],
    ['key', 'key'],
    [authorities, 'authority'],
  ];
  const faults = kinds.flatMap(([field, kind]) => {
    const file = tls[field];
    const problem = typeof file === 'string' ? files.problem(kind, file) : undefined;
    return problem === undefined ? [] : [{ path: [...path, field], ...problem }];
  });
  const isChecked = !faults.some((fault) => fault.path.at(-1) !== authorities);
  if (isChecked && typeof cert === 'string' && typeof key === 'string' && !files.isPair(cert, key))
    faults.push({
      path: [...path, 'key'],
      message: 'does not belong to the certificate',
      hint: 'name the key that the certificate was issued for',
    });
  return faults;
}
