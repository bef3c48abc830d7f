import { z } from 'zod';
import { isHostName } from './address.ts';
import { defaults } from './defaults.ts';
import type { FileAdmin } from './gateway-file.ts';
import { address, environmentName, note, part } from './schema-parts.ts';

const hostName = part<string>(
  'A name in lower case, without port.',
  { type: 'string', pattern: '^[a-z0-9._-]+$' },
  (input) => {
    if (typeof input === 'string' && isHostName(input)) return { ok: true, value: input };
    return {
      ok: false,
      message: 'is not a host name',
      hint: 'for example admin.internal, in lower case, without port',
    };
  },
);

/** Where operators and their tools look. */
export const admin: z.ZodType<FileAdmin> = z.strictObject({
  address: address('host:port to listen on; other than loopback only with `public: true`.', 'listener').prefault(
    defaults.admin.address,
  ),
  public: note(z.boolean(), 'Allows an address that other machines reach.').prefault(defaults.admin.public),
  write: note(z.boolean(), 'Allows requests that change something, such as draining an endpoint.').prefault(
    defaults.admin.write,
  ),
  hosts: note(
    z.array(hostName).max(100),
    'Names by which clients may call it besides loopback names and its own address.',
    'a list: [admin.internal]',
  ).prefault([]),
  token: note(
    z
      .strictObject({
        file: note(z.string().min(1).max(4096).optional(), 'A file that holds it.'),
        env: environmentName('MULLIGAN_ADMIN_TOKEN', 'token').optional(),
      })
      .optional(),
    'What clients must send as `Authorization: Bearer …`, on every path but /healthz and /readyz. At least 16 characters.',
    'write { file: PATH } or { env: NAME }',
  ),
});
