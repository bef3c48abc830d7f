/** What a file is to be: one certificate with those between it and its authority, authorities, or a private key. */
export type TlsFileKind = 'certificate' | 'authority' | 'key';

export interface TlsFileProblem {
  readonly message: string;
  readonly hint: string;
}

/**
 * The files that a configuration names. `config` touches no file system: whoever reads configurations from files brings
 * this along, and their content never becomes part of a configuration.
 */
export interface TlsFiles {
  /** The path as it is used: relative ones stand for files beside the configuration. */
  resolve(path: string): string;
  /** Why the file cannot serve; `undefined`: it can. */
  problem(kind: TlsFileKind, path: string): TlsFileProblem | undefined;
  /** Whether the key belongs to the first certificate. Both files have no problem of their own. */
  isPair(certificatePath: string, keyPath: string): boolean;
}
