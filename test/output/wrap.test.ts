import { describe, expect, test } from 'vitest';
import {
  clamp,
  paragraph,
  terminalColumns,
  wrapped,
  wrappedMarkdown,
} from '../../src/output/width.ts';
import { tree } from '../contract/tree.ts';

describe('wrapped', () => {
  test('wraps a text between words, and indents the next lines', () => {
    expect(wrapped('error: one two three four', 14, 7)).toBe(
      'error: one two\n       three\n       four',
    );
    expect(wrapped('  a list of words', 10)).toBe('  a list\n  of words');
    expect(wrapped('pass  two spaces stay as they are', 20, 6)).toBe(
      'pass  two spaces\n      stay as they\n      are',
    );
  });

  test('keeps a long word whole for copying', () => {
    const link = 'https://example.com/a/long/path';
    expect(wrapped(`Open ${link} now`, 12)).toBe(`Open\n${link}\nnow`);
    expect(wrapped(`  ${link}`, 12, 4)).toBe(`  ${link}`);
  });

  test('never wraps a command', () => {
    const hint = 'Sign in first: gpucloud login --profile work';
    expect(wrapped(hint, 40)).toBe('Sign in first:\ngpucloud login --profile work');
    expect(wrapped('Run "gpucloud instances list" to see them all', 32)).toBe(
      'Run "gpucloud instances list" to\nsee them all',
    );
    expect(wrapped(hint, 20)).toBe('Sign in first:\ngpucloud login --profile work');
  });

  test('never wraps the loop that enforces deadlines', () => {
    const loop =
      "nohup sh -c 'while :; do gpucloud --profile work instances reap --every 5m; sleep 300; done' >/dev/null 2>&1 &";
    for (const line of [loop, `sh -c "${loop}"`])
      for (const cells of [10, 40, 80])
        expect(wrapped(`To schedule it: ${line}`, cells).split('\n')).toContain(line);
  });

  test('knows each command, but wraps a sentence about gpucloud', () => {
    const names = tree
      .createHelp()
      .visibleCommands(tree)
      .map((one) => one.name());
    for (const name of [...names, '--profile'])
      expect(wrapped(`See: gpucloud ${name} more`, 8)).toBe(`See:\ngpucloud ${name} more`);
    expect(wrapped('gpucloud learns the names again', 12)).toBe(
      'gpucloud\nlearns the\nnames again',
    );
  });

  test('keeps an amount and its currency together', () => {
    expect(wrapped('as anna (balance 10,500.00 ₽).', 28)).toBe('as anna (balance\n10,500.00 ₽).');
    expect(wrapped('costs 89.90 RUB/h now', 12)).toBe('costs\n89.90 RUB/h\nnow');
  });

  test('measures a line in cells, not characters, and ignores colours', () => {
    expect(wrapped('日本 日本 日本', 10)).toBe('日本 日本\n日本');
    expect(wrapped('\u001b[33mwarning:\u001b[39m low', 12)).toBe(
      '\u001b[33mwarning:\u001b[39m low',
    );
  });

  test('returns the text unchanged if the width is unknown', () => {
    const text = 'word '.repeat(100);
    for (const columns of [undefined, 0]) expect(wrapped(text, columns)).toBe(text);
  });
});

test('keeps every word of a paragraph', () => {
  const text =
    'See gpucloud instances list --all, or  ask (gpucloud --help); then go on: gpucloud status';
  for (let cells = 1; cells < 90; cells += 1) {
    const lines = paragraph(text, cells);
    expect(lines.join(' ').split(/ +/)).toEqual(text.split(/ +/));
    expect(lines.filter((line) => line.startsWith(' '))).toEqual([]);
  }
});

test.each([
  ['', 0, ['']],
  [' a  b ', 6, [' a  b ']],
  [' a  b ', 5, [' a  b']],
  [' a  b ', 3, [' a', 'b']],
  ['abcdef', 6, ['abcdef']],
  ['abcdef gh', 5, ['ABCDEF', 'gh']],
  ['ab abcdef', 5, ['ab', 'ABCDEF']],
  ['gpucloud status', 5, ['gpucloud status']],
])('wraps %j at %i cells, and shortens only a longer word', (text, cells, lines) => {
  expect(paragraph(text, cells, (word) => word.toUpperCase())).toEqual(lines);
});

test.each<[{ isTTY?: boolean; columns?: number }, { COLUMNS?: string }, number | undefined]>([
  [{ isTTY: true, columns: 80 }, {}, 80],
  [{ isTTY: true }, { COLUMNS: '72' }, 72],
  [{ isTTY: true, columns: 0 }, { COLUMNS: '7' }, 7],
  [{ isTTY: true, columns: 1 }, { COLUMNS: '7' }, 1],
  ...['wide', '0', '01', '7x', 'x7', '123456', ''].map(
    (COLUMNS): [{ isTTY: boolean }, { COLUMNS: string }, undefined] => [
      { isTTY: true },
      { COLUMNS },
      undefined,
    ],
  ),
  [{ columns: 80 }, { COLUMNS: '72' }, undefined],
])('returns the width of %j with %j: %s', (stream, env, columns) => {
  expect(terminalColumns(stream, env)).toBe(columns);
});

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['abcd', 1, '…'],
  ['abcd', 0, '…'],
  ['', 0, ''],
  ['日本語', 6, '日本語'],
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日…'],
])('cuts %j to %i cells: %j', (text, limit, cut) => {
  expect(clamp(text, limit)).toBe(cut);
});

test.each([
  ['one two three', 'one two\nthree'],
  ['- one two three', '- one\n  two\n  three'],
  ['  * one two', '  * one\n    two'],
  ['12. one two', '12. one\n    two'],
  ['1) one two', '1) one\n   two'],
  ['> one two three', '> one\n  two\n  three'],
  ['-one two three', '-one two\nthree'],
  ['    code that is long', '    code that is long'],
  ['one | two three', 'one |\ntwo\nthree'],
  ['| a | table | row |', '| a | table | row |'],
  ['```sh\none two three\n```\none two three', '```sh\none two three\n```\none two\nthree'],
  ['a ```b```\none two three', 'a\n```b```\none two\nthree'],
  [' ~~~\none two three\n ~~~\none two three', ' ~~~\none two three\n ~~~\none two\nthree'],
])('wraps the Markdown %j at 8 columns: %j', (text, lines) => {
  expect(wrappedMarkdown(text, 8)).toBe(lines);
});
