import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseHttpDate } from '../../src/core/http-date.ts';

const NOW = Date.UTC(2026, 10, 29);

test('the three forms of RFC 9110 name the same instant', () => {
  const instant = Date.UTC(1994, 10, 6, 8, 49, 37);
  assert.equal(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT', NOW), instant);
  assert.equal(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT', NOW), instant);
  assert.equal(parseHttpDate('Sun Nov  6 08:49:37 1994', NOW), instant);
  assert.equal(parseHttpDate('Sun Nov 06 08:49:37 1994', NOW), instant);
});

test('every month and every day name is known', () => {
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  months.forEach((month, index) => {
    assert.equal(parseHttpDate(`Mon, 01 ${month} 2026 00:00:00 GMT`, NOW), Date.UTC(2026, index, 1));
  });
  for (const day of ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']) {
    assert.equal(parseHttpDate(`${day}, 01 Jan 2026 00:00:00 GMT`, NOW), Date.UTC(2026, 0, 1));
  }
  for (const day of ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']) {
    assert.equal(parseHttpDate(`${day}, 01-Jan-26 00:00:00 GMT`, NOW), Date.UTC(2026, 0, 1));
  }
});

const YEARS: readonly (readonly [digits: string, nowYear: number, year: number])[] = [
  ['26', 2026, 2026],
  ['76', 2026, 2076],
  ['77', 2026, 1977],
  ['00', 2026, 2000],
  ['99', 2026, 1999],
  ['10', 2095, 2110],
  ['46', 2095, 2046],
  ['45', 2095, 2145],
];

for (const [digits, nowYear, year] of YEARS) {
  test(`two digits ${digits} read in ${String(nowYear)} mean ${String(year)}`, () => {
    const now = Date.UTC(nowYear, 5, 1);
    assert.equal(parseHttpDate(`Monday, 01-Jan-${digits} 00:00:00 GMT`, now), Date.UTC(year, 0, 1));
  });
}

test('a leap second and a leap day are dates', () => {
  assert.equal(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT', NOW), Date.UTC(2017, 0, 1));
  assert.equal(parseHttpDate('Tue, 29 Feb 2028 00:00:00 GMT', NOW), Date.UTC(2028, 1, 29));
});

const NO_DATES: readonly string[] = [
  '',
  'garbage',
  '1994-11-06T08:49:37Z',
  '784111777',
  'Sun, 06 Nov 1994 08:49:37',
  'Sun, 06 Nov 1994 08:49:37 UTC',
  'Sun, 06 Nov 1994 08:49:37 +0000',
  'sun, 06 nov 1994 08:49:37 gmt',
  'Sun, 6 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 94 08:49:37 GMT',
  'Sunday, 06-Nov-1994 08:49:37 GMT',
  'Sun, 06-Nov-94 08:49:37 GMT',
  'Sun Nov 6 08:49:37 1994',
  'Sun Nov  6 08:49:37 1994 GMT',
  'Fun, 06 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 24:00:00 GMT',
  'Sun, 06 Nov 1994 08:60:00 GMT',
  'Sun, 06 Nov 1994 08:49:61 GMT',
  'Sun, 00 Nov 1994 08:49:37 GMT',
  'Sun, 31 Nov 1994 08:49:37 GMT',
  'Mon, 29 Feb 2027 00:00:00 GMT',
  'Sun, 06 Nov 0050 08:49:37 GMT',
  ' Sun, 06 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 08:49:37 GMT ',
  'Sun, 06 Nov 1994 08:49:37 GMT\n',
];

for (const text of NO_DATES) {
  test(`${JSON.stringify(text)} is no HTTP-date`, () => {
    assert.equal(parseHttpDate(text, NOW), undefined);
  });
}

test('the last second of a day is one', () => {
  assert.equal(parseHttpDate('Sun, 06 Nov 1994 23:59:59 GMT', NOW), Date.UTC(1994, 10, 6, 23, 59, 59));
});

test('what toUTCString writes is read back', () => {
  const dates = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(dates, (date) => {
      const seconds = Math.floor(date.getTime() / 1000) * 1000;
      assert.equal(parseHttpDate(date.toUTCString(), NOW), seconds);
    }),
  );
});
