let text = '';
let validUntilMs = 0;

/** The `Date` of a response made now (RFC 9110 §6.6.1), made once a second. */
export function httpDate(): string {
  const nowMs = Date.now();
  // A wall clock that was set back must not keep an old date alive.
  if (nowMs >= validUntilMs || nowMs < validUntilMs - 1_000) {
    text = new Date(nowMs).toUTCString();
    validUntilMs = nowMs - (nowMs % 1_000) + 1_000;
  }
  return text;
}
