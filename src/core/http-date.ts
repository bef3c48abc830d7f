const MONTHS: readonly string[] = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TIME = '(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})';
const SHORT_DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';
const MONTH = `(?<month>${MONTHS.join('|')})`;

const IMF_FIXDATE = new RegExp(`^${SHORT_DAY}, (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`);
const RFC_850 = new RegExp(`^${LONG_DAY}, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${TIME} GMT$`);
const ASCTIME = new RegExp(`^${SHORT_DAY} ${MONTH} (?<day>[\\d ]\\d) ${TIME} (?<year>\\d{4})$`);

/**
 * Reads any of the three HTTP-date forms (RFC 9110 §5.6.7). Never `Date.parse`: it accepts what is no HTTP date and
 * reads a date without a zone as local time.
 *
 * @param wallNowMs the current wall time, needed for two-digit years only
 * @returns milliseconds since the epoch, or `undefined` when the text is no HTTP-date or no day of the calendar
 */
export function parseHttpDate(text: string, wallNowMs: number): number | undefined {
  const groups = (IMF_FIXDATE.exec(text) ?? RFC_850.exec(text) ?? ASCTIME.exec(text))?.groups;
  if (groups === undefined) return undefined;
  const { year = '', month = '', day = '', hour = '', minute = '', second = '' } = groups;
  const fullYear = year.length === 2 ? yearOfTwoDigits(Number(year), wallNowMs) : Number(year);
  return toInstant(fullYear, MONTHS.indexOf(month), Number(day), Number(hour), Number(minute), Number(second));
}

/** The latest year with these digits that is not more than 50 years ahead. */
function yearOfTwoDigits(digits: number, wallNowMs: number): number {
  const latest = new Date(wallNowMs).getUTCFullYear() + 50;
  return latest - ((latest - digits) % 100);
}

function toInstant(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | undefined {
  // 60 is a leap second.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const midnight = Date.UTC(year, month, day);
  const date = new Date(midnight);
  // `Date.UTC` makes 2 March of 30 February and 1950 of the year 50.
  if (date.getUTCFullYear() !== year || date.getUTCDate() !== day) return undefined;
  return midnight + ((hour * 60 + minute) * 60 + second) * 1000;
}
