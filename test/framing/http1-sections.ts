/** Where the RFCs say what a parser's refusals rest on. */
const sections: Readonly<Record<string, string>> = {
  BAD_START_LINE: 'RFC 9112 §3',
  EMPTY_LINES: 'RFC 9112 §2.2',
  BAD_METHOD: 'RFC 9112 §3.1',
  UNKNOWN_METHOD: 'RFC 9110 §9.1',
  BAD_TARGET: 'RFC 9112 §3.2',
  TARGET_TOO_LONG: 'RFC 9112 §3',
  BAD_VERSION: 'RFC 9112 §2.3',
  BAD_STATUS: 'RFC 9112 §4',
  BAD_REASON: 'RFC 9112 §4',
  BARE_LF: 'RFC 9112 §2.2',
  BARE_CR: 'RFC 9112 §2.2',
  OBS_FOLD: 'RFC 9112 §5.2',
  SPACE_BEFORE_COLON: 'RFC 9112 §5.1',
  BAD_FIELD_NAME: 'RFC 9110 §5.1',
  BAD_FIELD_VALUE: 'RFC 9110 §5.5',
  MISSING_HOST: 'RFC 9112 §3.2',
  DUPLICATE_HOST: 'RFC 9112 §3.2',
  BAD_HOST: 'RFC 9110 §7.2',
  HOST_MISMATCH: 'RFC 9112 §3.2.2',
  DUPLICATE_CONTENT_LENGTH: 'RFC 9112 §6.3',
  BAD_CONTENT_LENGTH: 'RFC 9110 §8.6',
  LENGTH_AND_CODING: 'RFC 9112 §6.1',
  BAD_TRANSFER_ENCODING: 'RFC 9112 §6.1',
  UNKNOWN_TRANSFER_ENCODING: 'RFC 9112 §6.1',
  CODING_IN_HTTP_1_0: 'RFC 9112 §6.1',
  UNEXPECTED_BODY: 'RFC 9110 §9.3.6',
  BAD_EXPECT: 'RFC 9110 §10.1.1',
  BAD_CHUNK_SIZE: 'RFC 9112 §7.1',
  BAD_CHUNK_EXTENSION: 'RFC 9112 §7.1.1',
  BAD_CHUNK_END: 'RFC 9112 §7.1',
  CHUNK_LINE_TOO_LONG: 'RFC 9112 §7.1.1',
  FORBIDDEN_TRAILER: 'RFC 9110 §6.5.1',
  TRAILERS_TOO_LARGE: 'RFC 9112 §7.1.2',
  HEAD_TOO_LARGE: 'RFC 9110 §5.4',
  TOO_MANY_FIELDS: 'RFC 9110 §5.4',
  BAD_INFORMATIONAL: 'RFC 9110 §15.2',
  TOO_MANY_INFORMATIONAL: 'RFC 9110 §15.2',
};

/** @throws Error for a refusal that rests on nothing known here */
export function sectionOf(code: string): string {
  const section = sections[code];
  if (section === undefined) throw new Error(`no section of an RFC is known for ${code}`);
  return section;
}
