import { z } from 'zod';
import type { FileListenerTls } from './gateway-file.ts';
import { note, part } from './schema-parts.ts';
import { tlsFile } from './upstream-tls-schema.ts';

const serverHost = part<string>(
  'A name that clients ask for (SNI), or `*.` and a name for all that have one label more.',
  { type: 'string', pattern: '^(\\*\\.)?[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*$' },
  (input) =>
    typeof input === 'string' && input.length < 254 && /^(?:\*\.)?[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*$/.test(input)
      ? { ok: true, value: input.toLowerCase() }
      : { ok: false, message: 'is not a host name', hint: 'for example shop.example or "*.shop.example"' },
);

const certFile = tlsFile('The certificate, with those between it and its authority');
const keyFile = tlsFile('The private key of `cert`, without a passphrase');

/** How connections of clients are secured. */
export const listenerTls: z.ZodType<FileListenerTls> = z.strictObject({
  cert: certFile.optional(),
  key: keyFile.optional(),
  certificates: note(
    z
      .array(
        z.strictObject({
          hosts: note(z.array(serverHost).min(1).max(100), 'The names that it is shown for.'),
          cert: certFile,
          key: keyFile,
        }),
      )
      .min(1)
      .max(100),
    'In place of `cert` and `key`: one certificate for each group of names. The first one is shown to clients that ask for no name, or for one that is not here.',
  ).optional(),
  clientCa: tlsFile(
    'Authorities: a client must show a certificate that one of them has issued, or is refused in the handshake',
  ).optional(),
});
