import { expect, test } from 'vitest';
import { ensureNeeded, newProgram, readFlags } from '../../src/command-line/command.ts';
import { checkedAddress, commaList, oneName } from '../../src/command-line/parse.ts';
import { intervalOption, waitTimeoutOption, watchOption } from '../../src/watch/flags.ts';

/** Returns what a function returns, or the message of its error. */
function outcomeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return (error as Error).message;
  }
}

const { options } = newProgram('x')
  .option('-o, --output <format>')
  .option('-y, --yes')
  .option('--wait [target]');

test.each([
  ['-o=json a', ['-o', 'json', 'a'], []],
  ['-yo=json a', ['-yo', 'json', 'a'], []],
  ['-ojson a', ['-ojson', 'a'], []],
  ['-oy a', ['-oy', 'a'], []],
  ['-yo json a', ['-yo', 'json', 'a'], []],
  ['--output --yes a', ['--output', '--yes', 'a'], []],
  ['--output=a=b', ['--output=a=b'], []],
  ['--wait ssh', ['--wait=', 'ssh'], []],
  ['--wait=ssh a', ['--wait=ssh', 'a'], []],
  ['--bad=1 -x a', ['--bad=1', '-x', 'a'], []],
  ['a -- -o=json', ['a'], ['--', '-o=json']],
  ['a - -y', ['a', '-', '-y'], []],
])('reads %s as commander does', (line, read, rest) => {
  expect(readFlags(line.split(' '), options)).toEqual([read, rest]);
});

test.each([
  [0, [], ['a', '-y', 'b', '-y']],
  [1, ['a', '-y'], ['b', '-y']],
  [2, ['a', '-y', 'b', '-y'], []],
])('stops after %d words', (words, read, rest) => {
  expect(readFlags(['a', '-y', 'b', '-y'], options, words)).toEqual([read, rest]);
  // A bare dash is a word.
  const dashes = (list: readonly string[]) => list.map((word) => (word === 'a' ? '-' : word));
  expect(readFlags(['-', '-y', 'b', '-y'], options, words)).toEqual([dashes(read), dashes(rest)]);
});

test.each([
  ['a default', []],
  ['both', ['--watch', '--interval', '5s']],
  ['the other flag alone', ['--watch']],
  ['no other flag', ['--interval', '5s'], '--interval needs --watch'],
  // Such a command waits always.
  ['a command without the other flag', ['--wait-timeout', '5m']],
])('refuses a flag that has no effect: %s', (_what, argv, expected?: string) => {
  const program = newProgram('x')
    .addOption(watchOption())
    .addOption(intervalOption())
    .addOption(waitTimeoutOption())
    .parse(argv, { from: 'user' });
  expect(outcomeOf(() => ensureNeeded(program))).toBe(expected);
});

const refused = { ok: false, rule: 'must be an address' } as const;
const address = (text: string) => checkedAddress('--base-url', text, () => refused);

test.each<[string, () => unknown, unknown]>([
  ['an address', () => address('x'), '--base-url "x": must be an address'],
  ...['u:p@x', 'x?key', 'x#key'].map((text): [string, () => unknown, unknown] => [
    `the address ${text}`,
    () => address(text),
    '--base-url: must be an address (value hidden)',
  ]),
  [
    '81 characters',
    () => address('x'.repeat(81)),
    `--base-url "${'x'.repeat(80)}…": must be an address`,
  ],
  [
    '80 characters',
    () => address('x'.repeat(80)),
    `--base-url "${'x'.repeat(80)}": must be an address`,
  ],
  ['two names', () => oneName('DRIVE', 'a', 'b'), 'DRIVE "a" and --name "b" differ; use one'],
  ['the same name', () => oneName('DRIVE', 'a', 'a'), 'a'],
  ['a name in a flag', () => oneName('DRIVE', undefined, 'b'), 'b'],
  ['no name', () => oneName('DRIVE', undefined, undefined), undefined],
  ['a list', () => commaList('--columns')('a, b,c '), ['a', 'b', 'c']],
  [
    'an empty item',
    () => commaList('--columns')('a,,b'),
    '--columns "a,,b": must be a comma-separated list without empty items',
  ],
])('reads %s', (_what, read, expected) => {
  expect(outcomeOf(read)).toEqual(expected);
});
