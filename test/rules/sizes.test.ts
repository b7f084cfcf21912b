import { describe, expect, it } from 'vitest';
import { sizeGb } from '../../src/rules/numbers.ts';

describe('sizeGb', () => {
  it.each([
    ['1', 1],
    ['500', 500],
    ['0500', 500],
    ['500GB', 500],
    ['500gb', 500],
    ['500G', 500],
    ['2t', 2000],
    ['2TB', 2000],
    ['2tB', 2000],
    ['999999999TB', 999_999_999_000],
  ])('parses the drive size %s as %d GB', (text, gb) => {
    expect(sizeGb(text)).toEqual({ ok: true, value: gb });
  });

  it.each([
    '',
    ' ',
    ' 500',
    '500 GB',
    '1.5TB',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1_000',
    '500MB',
    '500GiB',
    'GB',
    'G',
    '٥',
    '1000000000',
    '500\n',
  ])('rejects the drive size %j and shows the valid form', (text) => {
    expect(sizeGb(text)).toEqual({
      ok: false,
      rule: 'must be a whole number of GB or TB, such as 500, 500GB or 2TB (1 TB = 1000 GB)',
    });
  });

  it.each(['0', '000', '0GB', '0TB'])('rejects a drive size of zero: %s', (text) => {
    expect(sizeGb(text)).toEqual({ ok: false, rule: 'must be more than zero' });
  });
});
