import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isAuthority } from '../../src/http1/request-target.ts';

it('an authority is a plain name or an IP literal with an optional port', () => {
  for (const text of [
    'a',
    'a.example',
    'A-b_c~d.example.',
    '127.0.0.1',
    'a:0',
    'a:65535',
    'a:00080',
    '[::]',
    '[::1]',
    '[::1]:443',
    '[1:2:3:4:5:6:7:8]',
    '[2001:DB8::a]',
    '[::ffff:192.0.2.1]',
    '[1::]',
    '[1:2:3:4:5:6:1.2.3.4]',
  ]) {
    assert.equal(isAuthority(text), true, text);
  }
});

it('what peers could split differently is no authority', () => {
  for (const text of [
    '',
    ':',
    ':80',
    'a:',
    'a:65536',
    'a:123456',
    'a:x',
    'a:-1',
    'a:+1',
    'a:80:80',
    'u@a',
    'a/b',
    'a?b',
    'a#b',
    'a b',
    'a,b',
    'a;b',
    'a%41',
    'a\\b',
    'a\t',
    'a\x80',
    'a\u0141',
    '[',
    ']',
    '[]',
    '[:]',
    '[:::]',
    '[::1',
    '::1',
    '[::1]x',
    '[::1]:',
    '[::1]a:80',
    'a[::1]',
    '[1:2:3:4:5:6:7]',
    '[1:2:3:4:5:6:7:8:9]',
    '[1::2::3]',
    '[12345::]',
    '[fe80::1%25eth0]',
    '[v1.a]',
    '[::1.2.3]',
    '[::1.2.3.256]',
    '[::01.2.3.4]',
    '[1.2.3.4::]',
    '[1.2.3.4]',
    '[1:2:3:4:5:6:7::8]',
  ]) {
    assert.equal(isAuthority(text), false, text);
  }
});
