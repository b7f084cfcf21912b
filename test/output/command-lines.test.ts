import { describe, expect, test } from 'vitest';
import {
  commandLines,
  foldedCommand,
  gpucloud,
  shellLine,
  withProfile,
} from '../../src/output/shell-line.ts';
import { width } from '../../src/output/width.ts';
import { clean } from '../../src/rules/clean.ts';

const PIECES = [
  ['gpucloud', 'instances', 'create', 'trainer'],
  ['--offer', 'RTX 4090'],
  ['--image', 'ubuntu-22-04'],
  ['--ssh-key', 'anna@laptop'],
  ['--wait'],
];

describe('commandLines', () => {
  test('keeps a command that fits on one line', () => {
    expect(commandLines(PIECES, 200)).toEqual([shellLine(PIECES.flat())]);
  });

  test.each([40, 60, 80])('wraps a command at %i columns without changing it', (columns) => {
    const lines = commandLines(PIECES, columns);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(width(`  ${line}`)).toBeLessThan(columns);
    expect(lines.join('\n').replaceAll(/ \\\n +/g, ' ')).toBe(shellLine(PIECES.flat()));
  });

  test('keeps a flag and its long value on one line', () => {
    const long = 'x'.repeat(100);
    expect(commandLines([['gpucloud'], ['--name', long], ['--wait']], 40)).toEqual([
      'gpucloud \\',
      `  --name ${long} \\`,
      '  --wait',
    ]);
  });
});

test.each([
  [19, ['gpucloud aaaa bbbb'], ['gpucloud aaaa \\', '  bbbb']],
  [18, ['gpucloud aaaa bbbb'], ['gpucloud aaaa \\', '  bbbb']],
  [17, ['gpucloud \\', '  aaaa bbbb'], ['gpucloud \\', '  aaaa bbbb']],
  [undefined, undefined, ['gpucloud aaaa bbbb']],
])('breaks a line at %s columns', (columns, folded, lines) => {
  expect(columns && foldedCommand('gpucloud aaaa bbbb', columns)).toEqual(folded);
  expect(commandLines([['gpucloud'], ['aaaa'], ['bbbb']], columns)).toEqual(lines);
});

describe('foldedCommand', () => {
  const text = shellLine(PIECES.flat());

  test.each([20, 40, 60])('continues a command at %i columns without changing it', (columns) => {
    const lines = foldedCommand(text, columns);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
    expect(lines.join('\n').replaceAll(/ \\\n +/g, ' ')).toBe(text);
  });

  test('keeps a quoted word whole', () => {
    const words = ['gpucloud', 'drives', 'get', "anna's data set"];
    expect(foldedCommand(shellLine(words), 30)).toEqual([
      'gpucloud drives get \\',
      "  'anna'\\''s data set'",
    ]);
  });

  test('keeps a command with escaped characters on one line', () => {
    const line = shellLine(['gpucloud', 'drives', 'get', 'a\u202eb c']);
    expect(foldedCommand(line, 20)).toEqual([line]);
  });
});

describe('gpucloud', () => {
  const hint = `connect: ${gpucloud('instances', 'ssh', 'a b')}; all: ${gpucloud('audit')}`;

  test('quotes each word of a command', () => {
    expect(withProfile(hint, undefined)).toBe(
      "connect: gpucloud instances ssh 'a b'; all: gpucloud audit",
    );
  });

  test('adds the quoted profile to every command in a text', () => {
    expect(withProfile(hint, "$& it's")).toBe(
      "connect: gpucloud --profile '$& it'\\''s' instances ssh 'a b'; all: gpucloud --profile '$& it'\\''s' audit",
    );
  });

  test('escapes the profile marker in an argument, and ignores the marker in other text', () => {
    expect(withProfile('n\ufdd0 x', 'work')).toBe('n\ufdd0 x');
    expect(withProfile(gpucloud('scp', "a\ufdd0\\'b"), 'work')).toBe(
      "gpucloud --profile work scp $'a\\xef\\xb7\\x90\\\\\\'b'",
    );
    expect(clean('n\ufdd0 x')).toBe('n x');
  });
});
