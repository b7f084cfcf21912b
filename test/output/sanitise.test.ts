import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { View } from '../../src/output/output.ts';
import { cleanLines } from '../../src/output/sanitise.ts';
import { clean } from '../../src/rules/clean.ts';
import { anyText, fc, runs } from '../support/random.ts';
import { written } from './world.ts';

const FORBIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]|\p{Surrogate}/u;

describe('clean', () => {
  it.each([
    ['OSC 52 ended by BEL', 'a\u001b]52;c;cm0gLXJm\u0007b', 'ab'],
    ['OSC 8 ended by ST', '\u001b]8;;https://evil\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['OSC ended by C1 ST', 'a\u001b]0;title\u009cb', 'ab'],
    ['an OSC without an end', 'a\u001b]0;title and all the rest', 'a'],
    ['an OSC that begins with C1', 'a\u009d0;title\u0007b', 'ab'],
    ['DCS', 'a\u001bP1$r0m\u001b\\b', 'ab'],
    ['CSI colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['CSI private modes', 'a\u001b[?1049hb', 'ab'],
    ['CSI that begins with C1', 'a\u009b2Jb', 'ab'],
    ['a CSI without an end', 'a\u001b[12', 'a'],
    ['a change of character set', 'a\u001b(0b', 'ab'],
    ['a lone ESC', 'a\u001b', 'a'],
    ['BEL, backspace and NUL', 'a\u0007\bb\u0000c', 'abc'],
    ['a line break of two', 'a\r\nb', 'a b'],
    ['a carriage return', 'price 1\rprice 9', 'price 1 price 9'],
    ['tab and newline', 'a\tb\nc', 'a b c'],
    ['DEL and C1', 'a\u007fb\u0085c', 'abc'],
    ['bidi overrides', 'a\u202egpj.exe\u202c', 'agpj.exe'],
    ['bidi isolates and marks', '\u2066a\u2069\u200e\u200f\u061cb', 'ab'],
    ['zero-width', 'a\u200bb\u200cc\u200dd\u2060e\ufefff', 'abcdef'],
    ['lone surrogates', 'a\ud83db\ude00c', 'abc'],
    ['tags', 'a\u{e0041}b', 'ab'],
    ['nothing from plain text', 'Ночной 机器 🚀 é', 'Ночной 机器 🚀 é'],
  ])('removes %s from a text', (_what, text, expected) => {
    expect(clean(text)).toBe(expected);
  });

  const hostile = fc.string({
    unit: fc.oneof(
      fc.constantFrom(
        '\u001b',
        '\u009b',
        ']',
        '[',
        'P',
        '\u0007',
        '\\',
        '\n',
        '\r',
        '\t',
        '0',
        ';',
      ),
      fc.constantFrom('\u202e', '\u200d', '\ud83d', '\ude00', 'm', 'a', ' ', '😀', '\u2028'),
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    ),
    maxLength: 60,
  });

  it('removes control characters from any text, and is idempotent', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const once = clean(text);
        expect(once).not.toMatch(FORBIDDEN);
        expect(clean(once)).toBe(once);
        expect(cleanLines(text).replaceAll('\n', '')).not.toMatch(FORBIDDEN);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('takes linear time for long hostile text', () => {
    for (const piece of ['\u001b]', '\u001b[1;', '\u001b(', '\u200b', '\u001bP\u001b']) {
      const text = piece.repeat(200_000);
      expect(clean(`x${text}`).startsWith('x')).toBe(true);
    }
  });

  it('keeps the line breaks of a readme', () => {
    expect(cleanLines('# T\r\n\tcode\u001b[2J\n\u001b]0;x\nend')).toBe('# T\n    code\n\nend');
  });
});

interface Named {
  name: string;
}

const named: View<Named> = {
  columns: [
    { id: 'name', header: 'NAME', value: (row) => row.name },
    { id: 'end', header: 'END', value: () => '|' },
  ],
  id: (row) => row.name,
  empty: 'none',
};

const HOSTILE = [
  ...['quote " comma , tab \t line \n cr \r end', ' spaces '],
  ...['\u001b]52;c;AAAA\u0007\u001b[2J\u009b31m\u0085\u007f'],
  ...['\u202ertl\u2066\u200b\u200d\ufeff\u061c\u2028\u2029', '👩‍👩‍👧 機器 \\t \\ "', '=1+1', 'yes'],
  ...['1e3', '\u{e0041}tag'],
  'x'.repeat(5000),
  '- a: b\n  c: |\n    d',
  '# no comment',
  '',
  '\ud83d lone',
];

/** Returns a text as csv and tsv write it: line breaks as newlines, and nothing invisible. */
const inData = (text = '') => text.replaceAll('\r', '\n').replaceAll('\u200d', '');

describe('a hostile name', () => {
  const rows = HOSTILE.map((name) => ({ name, [`key ${name}`]: name }));
  // jq rejects a document with half a surrogate pair.
  const whole = (text: string) => text.replace(/\p{Surrogate}/gu, '\ufffd');
  const readable = HOSTILE.map(whole).map((name) => ({ name, [`key ${name}`]: name }));

  it.each(['json', 'jsonl'] as const)(
    'prints a hostile name without raw control characters in %s',
    async (format) => {
      const { stdout } = await written({ format }, (out) => out.list(rows, named));
      expect(stdout.replaceAll('\n', '')).not.toMatch(FORBIDDEN);
      const read =
        format === 'json'
          ? JSON.parse(stdout)
          : stdout
              .trimEnd()
              .split('\n')
              .map((line) => JSON.parse(line));
      expect(read).toEqual(readable);
      expect(stdout).not.toMatch(/\\ud83d(?!\\u)/);
    },
  );

  it('keeps JSON escapes that are part of a hostile name', async () => {
    const name = '\\ud83d \\\\ud83d 🚀 \\\ud83d';
    const { stdout } = await written({ format: 'json' }, (out) => out.item({ name }, named));
    expect(JSON.parse(stdout).name).toBe(whole(name));
  });

  it('prints no raw control characters in YAML 1.1 and 1.2', async () => {
    const { stdout } = await written({ format: 'yaml' }, (out) => out.list(rows, named));
    expect(stdout.replaceAll('\n', '')).not.toMatch(FORBIDDEN);
    expect(parse(stdout)).toEqual(readable);
    expect(parse(stdout, { version: '1.1' })).toEqual(readable);
  });

  it('keeps any text through a yaml round trip', async () => {
    await fc.assert(
      fc.asyncProperty(anyText({ maxLength: 30 }), async (name) => {
        const { stdout } = await written({ format: 'yaml' }, (out) => out.item({ name }, named));
        expect(stdout.replaceAll('\n', '')).not.toMatch(FORBIDDEN);
        expect(parse(stdout)).toEqual({ name });
      }),
      { numRuns: runs(500) },
    );
  });

  it('keeps any text except control characters through a csv round trip', async () => {
    const { stdout } = await written({ format: 'csv', header: false }, (out) =>
      out.list(rows, named),
    );
    expect(stdout.replace(/\t|\n/g, '')).not.toMatch(FORBIDDEN);
    const read = readCsv(stdout);
    expect(read.every((fields) => fields.length === 2 && fields[1] === '|')).toBe(true);
    const texts = read.map((fields) => fields[0]);
    expect(texts).toHaveLength(HOSTILE.length);
    for (const at of [0, 1, 4, 5, 6, 7, 9, 10, 11, 12]) expect(texts[at]).toBe(inData(HOSTILE[at]));
    expect(texts[2]).toBe('');
  });

  it('prints one line per row in tsv, and keeps any text through a round trip', async () => {
    const { stdout } = await written({ format: 'tsv', header: false }, (out) =>
      out.list(rows, named),
    );
    const read = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    expect(stdout.replace(/[\t\n]/g, '')).not.toMatch(FORBIDDEN);
    expect(read.every((fields) => fields.length === 2 && fields[1] === '|')).toBe(true);
    const texts = read.map(([text = '']) =>
      text.replace(/\\(.)/g, (_, letter: string) =>
        letter === 't' ? '\t' : letter === 'n' ? '\n' : letter === 'r' ? '\r' : letter,
      ),
    );
    expect(texts).toHaveLength(HOSTILE.length);
    for (const at of [0, 1, 4, 5, 6, 7, 9, 10, 11, 12]) expect(texts[at]).toBe(inData(HOSTILE[at]));
  });

  it.each([
    ['table', undefined],
    ['table', { columns: 80 }],
    ['id', undefined],
  ] as const)(
    'prints a hostile name on one line without control characters as %s',
    async (format, terminal) => {
      const { stdout } = await written(
        { format, header: false },
        (out) => out.list(rows, named),
        terminal,
      );
      expect(stdout.trimEnd().split('\n')).toHaveLength(HOSTILE.length);
      expect(stdout.replaceAll('\n', '')).not.toMatch(FORBIDDEN);
    },
  );

  it('removes control characters from details, labels and headings', async () => {
    const nasty = '\u001b]0;x\u0007a\u202eb';
    const { stdout } = await written(
      {},
      (out) =>
        out.item(
          { name: nasty },
          {
            ...named,
            sections: [{ heading: nasty, lines: () => [{ label: nasty, value: nasty }] }],
          },
        ),
      { columns: 80 },
    );
    expect(stdout).toBe('ab\n  ab:  ab\n');
  });
});

/** Parses RFC 4180 independently of our writer. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\n)/gy;
  for (let match = field.exec(text); match !== null; match = field.exec(text)) {
    rows.at(-1)?.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] !== ',' && field.lastIndex < text.length) rows.push([]);
    if (field.lastIndex === text.length) break;
  }
  return rows;
}
