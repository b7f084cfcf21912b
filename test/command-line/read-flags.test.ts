import { expect, test } from 'vitest';
import { newProgram, readFlags } from '../../src/command-line/command.ts';

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
