import { readFileSync } from 'node:fs';
import type { SecretSource } from '../../config/gateway-config.ts';

const MIN_LENGTH = 16;
const MAX_LENGTH = 4096;

/**
 * Reads a token from where the configuration says it is. Surrounding white space is not part of it: editors end files
 * with a line break.
 * @throws Error that names the place and what to do, and never the content
 */
export function readSecret(source: SecretSource, setting: string): string {
  const place = 'file' in source ? `file ${source.file}` : `environment variable ${source.env}`;
  const token = ('file' in source ? textOf(source.file, setting) : (process.env[source.env] ?? '')).trim();
  if (token === '') throw new Error(`${setting}: the ${place} is empty; put a token there`);
  if (token.length < MIN_LENGTH)
    throw new Error(
      `${setting}: the token in the ${place} is shorter than ${MIN_LENGTH} characters; take a longer one`,
    );
  if (token.length > MAX_LENGTH || !/^[\x21-\x7e]+$/.test(token))
    throw new Error(
      `${setting}: the ${place} holds no token: at most ${MAX_LENGTH} characters, visible ASCII, no space`,
    );
  return token;
}

function textOf(path: string, setting: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new Error(`${setting}: the file ${path} cannot be read (${why}); give the path of a file with the token`, {
      cause: error,
    });
  }
}
