import { isIP } from 'node:net';
import { z } from 'zod';
import { defaults } from './defaults.ts';
import type { FileUpstreamTls } from './gateway-file.ts';
import { note, part } from './schema-parts.ts';

const serverName = part<string>(
  'The name that the certificates must be for, also told to the servers (SNI). Default: the name of a `dns` endpoint, the host of an address.',
  { type: 'string', pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$' },
  (input) => {
    if (typeof input !== 'string' || !/^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(input))
      return { ok: false, message: 'is not a host name', hint: 'for example orders.internal, without a port' };
    return isIP(input) === 0
      ? { ok: true, value: input }
      : {
          ok: false,
          message: 'is an address, not a name',
          hint: 'remove it: a certificate for the address is accepted',
        };
  },
);

/** A path; relative ones stand for files beside the gateway file. */
export const tlsFile = (what: string): z.ZodType<string> =>
  note(
    z.string().min(1).max(4096),
    `${what}: a PEM file; a relative path is relative to this file. It is read at the start, at each reload, and when it changes.`,
  );

/** How connections to the endpoints are secured. */
export const upstreamTls: z.ZodType<FileUpstreamTls> = z.strictObject({
  serverName: serverName.optional(),
  ca: tlsFile('The authorities that are trusted, in place of those of the machine').optional(),
  cert: tlsFile('The certificate that this gateway shows, with those between it and its authority').optional(),
  key: tlsFile('The private key of `cert`').optional(),
  verify: note(
    z.boolean(),
    'Whether the certificate of a server must be valid, trusted and for its name. `false` believes whoever answers.',
  ).prefault(defaults.upstreamTls.verify),
});
