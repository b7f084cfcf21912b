import { describe, expect, test } from 'vitest';
import { questionOf } from '../../src/completion/reply.ts';
import type { Answer } from '../../src/completion/values.ts';

const answer = (values: readonly string[], before = '') => ({
  before,
  values: values.map((value) => ({ value, help: '' })),
  files: false,
});

describe('bash', () => {
  // The line, the part that bash replaces, the value and the text to insert.
  test.each([
    ['gpucloud drives get my', 'my', 'my data', 'my\\ data'],
    ['gpucloud drives get my\\ d', 'my\\ d', 'my data', 'my\\ data'],
    ['gpucloud drives get "my d', 'my d', 'my data', 'my data'],
    ["gpucloud drives get 'my", 'my', 'my data', 'my data'],
    ['gpucloud drives get "my d', '"my d', 'my data', 'my data'],
    ['gpucloud drives get a:', '', 'a:b', 'b'],
    ['gpucloud drives get a:b', 'a:b', 'a:bc', 'a:bc'],
    ['gpucloud drives get a:my\\ d', 'my\\ d', 'a:my data', 'my\\ data'],
    ['gpucloud drives get me@h', '@h', 'me@home', '@home'],
    ['gpucloud drives get a(', 'a(', 'a(b)', 'a\\(b\\)'],
    ['gpucloud drives get Д', 'Д', 'Диск (2)', 'Диск\\ \\(2\\)'],
    ['gpucloud drives get x', 'x', "x'$(y)`z`", "x\\'\\$\\(y\\)\\`z\\`"],
  ])('inserts the rest of the word: %j, %j', (line, replaced, value, inserted) => {
    const { reply } = questionOf('bash', [line, replaced]);
    expect(reply(answer([value, 'other']))).toEqual(['-', inserted]);
  });

  test.each([
    ['gpucloud x --drive=my', 'my', 'my\\ data'],
    ['gpucloud x --drive=my', '--drive=my', '--drive=my\\ data'],
    ['gpucloud x --drive=', '=', 'my\\ data'],
    ['gpucloud x --drive=', '', 'my\\ data'],
    ['gpucloud x --drive=', '--drive=', '--drive=my\\ data'],
    ['gpucloud x --drive=my', '=my', '=my\\ data'],
    ['gpucloud x --drive="my', 'my', 'my data'],
  ])('keeps the flag before a value: %j, %j', (line, replaced, inserted) => {
    const { words, reply } = questionOf('bash', [line, replaced]);
    expect(words[0]).toBe('x');
    expect(reply(answer(['my data'], '--drive='))).toEqual(['-', inserted]);
  });

  test.each([
    ['gpucloud a b', ['a', 'b']],
    ['gpucloud a ', ['a', '']],
    ['gpucloud a\\ b "c d" \'e\\\' ""x', ['a b', 'c d', 'e\\', 'x']],
    ['gpucloud a\\', ['a\\']],
    ['gpucloud a\\b', ['ab']],
    ['gpucloud "" x', ['', 'x']],
    ['gpucloud', []],
  ])('splits the line %j', (line, words) => {
    expect(questionOf('bash', [line]).words).toEqual(words);
  });
});

describe('PowerShell', () => {
  test('quotes values that PowerShell would read otherwise', () => {
    const { words, reply } = questionOf('powershell', ['gpucloud drives get |']);
    expect(words).toEqual(['drives', 'get', '']);
    expect(reply(answer(['plain', 'my data', 'a,b', "it's"]))).toEqual([
      'plain\tplain',
      "'my data'\tmy data",
      "'a,b'\ta,b",
      "'it''s'\tit's",
    ]);
  });

  test('completes the beginning of a word, after quotes too', () => {
    const { reply } = questionOf('powershell', ["gpucloud drives get 'my d|"]);
    expect(reply(answer(['my data', 'other']))).toEqual(["'my data'\tmy data"]);
  });

  test('skips an alias of one letter', () => {
    expect(questionOf('powershell', ['g drives get |']).words).toEqual(['drives', 'get', '']);
  });
});

const FILES = { before: '', values: [], files: true };
const VALUES = [
  { value: 'a:b', help: 'one: two\\' },
  { value: 'my data', help: '' },
];

test.each<[Parameters<typeof questionOf>[0], Answer, readonly string[]]>([
  ['zsh', { before: '', values: VALUES, files: false }, ['- ', 'a\\:b:one\\: two\\\\', 'my data']],
  [
    'zsh',
    { before: '-x=', values: VALUES, files: true, continues: 'list' },
    ['fnc -x=', 'a\\:b:one\\: two\\\\', 'my data'],
  ],
  [
    'fish',
    { before: '-x=', values: VALUES, files: false, continues: 'path' },
    ['-n -x=', '-x=a:b\tone: two\\', '-x=my data'],
  ],
  [
    'fish',
    { before: '', values: VALUES, files: false, replaces: true },
    ['-r ', 'a:b\tone: two\\', 'my data'],
  ],
  [
    'bash',
    { before: '', values: VALUES, files: true, continues: 'list', replaces: true },
    ['fncr', 'a:b', 'my\\ data'],
  ],
  ['bash', { before: '', values: VALUES, files: true, continues: 'list' }, ['f']],
  ['bash', FILES, ['f']],
  ['bash', { ...FILES, files: false, continues: 'list' }, ['-nc']],
  ['zsh', FILES, ['f ']],
  [
    'powershell',
    { before: '', values: VALUES, files: false, replaces: true },
    ['a:b\tone: two\\', "'my data'\tmy data"],
  ],
  ['powershell', { before: '', values: VALUES, files: false }, []],
])('replies to %s with %j: %j', (shell, given, lines) => {
  const line = {
    bash: ['gpucloud x y', 'y'],
    powershell: ['gpucloud x y|'],
    zsh: ['--', 'x', 'y'],
    fish: ['--', 'x', 'y'],
  };
  expect(questionOf(shell, line[shell]).reply(given)).toEqual(lines);
});

test.each([
  ['zsh', ['--', 'run', ''], ['run', '']],
  ['fish', ['--', '--'], ['--']],
  // The scripts of earlier versions pass no `--` of their own.
  ['zsh', ['--'], ['--']],
  ['fish', ['run', '--', ''], ['run', '--', '']],
] as const)('reads the words that %s passes: %j', (shell, given, words) => {
  expect(questionOf(shell, given).words).toEqual(words);
});
