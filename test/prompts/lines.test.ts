import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createPrompts } from '../../src/prompts/index.ts';
import type { Question } from '../../src/prompts/inquirer.ts';
import { lineAsker } from '../../src/prompts/lines.ts';

/** Asks one question, and returns the result and everything printed. */
async function asked(question: Question, typed: string) {
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  const { signal } = new AbortController();
  const answer = lineAsker({ stdin, stderr, signal, env: {}, colour: false })(question);
  stdin.write(typed);
  return { answer: await answer, printed: String(stderr.read() ?? '') };
}

const short = (text: string) => (text.length < 3 ? 'too short' : undefined);
const CARDS = [
  { value: 'a', short: 'RTX 4090', name: 'RTX 4090', about: ['24 GB', ' '] },
  ...['A100 80GB', 'A100 40GB'].map((name) => ({ value: name, short: name, name })),
];
const LIST = `Offer
  1. RTX 4090, 24 GB
  2. A100 80GB
  3. A100 40GB
`;
const NUMBER = (at: number) => `Number, or a part of the name [${at}] `;
const NUMBERS = (now: string) => `Numbers separated by spaces, or none [${now}] `;

const text = (more: { initial?: string; check?: (text: string) => string | undefined }) =>
  ({ form: 'text', message: 'Name', initial: undefined, check: undefined, ...more }) as const;
const confirm = (initial: boolean) => ({ form: 'confirm', message: 'Go?', initial }) as const;
const choose = (initial?: number) =>
  ({ form: 'choose', message: 'Offer', choices: CARDS, initial }) as const;
const several = (least: 0 | 1, ...checked: number[]) =>
  ({
    form: 'several',
    message: 'Offer',
    least,
    choices: CARDS.map((one, at) => ({ ...one, checked: checked.includes(at) })),
  }) as const;
const KEY = { form: 'secret', message: 'Key', check: undefined } as const;

/** Each row is a question, what a person types, the answer, and all that is printed. */
test.each<[Question, typed: string, answer: unknown, printed: string]>([
  [text({}), 'box\n', 'box', 'Name '],
  [text({ initial: 'old' }), '\r', 'old', 'Name [old] '],
  [text({ check: short }), 'ab\r\nabc\n', 'abc', 'Name   too short\nName '],
  // Ctrl-U removes the line, and DEL a character. Ctrl-A does nothing.
  [KEY, 'xy\u0015ab\u0001d\u007fc\r', 'abc', 'Key (input hidden) \n'],
  [confirm(true), '\n', true, 'Go? yes or no [yes] '],
  [confirm(false), '\n', false, 'Go? yes or no [no] '],
  [KEY, 'ax\bb\n', 'ab', 'Key (input hidden) \n'],
  [confirm(true), 'o\nn\n', false, 'Go? yes or no [yes]   type yes or no\nGo? yes or no [yes] '],
  [confirm(false), 'a\n Y \n', true, 'Go? yes or no [no]   type yes or no\nGo? yes or no [no] '],
  [choose(), '\n', 0, `${LIST}${NUMBER(1)}`],
  [choose(2), '\n', 2, `${LIST}${NUMBER(3)}`],
  [choose(), '3\n', 2, `${LIST}${NUMBER(1)}`],
  [
    choose(),
    '0000003\nh100\nA100\na100 4\n',
    2,
    `${LIST}${NUMBER(1)}  no choice matches\n${NUMBER(1)}  no choice matches\n${NUMBER(1)}  2. A100 80GB\n  3. A100 40GB\n${NUMBER(1)}`,
  ],
  [several(0), '\n', [], `${LIST}${NUMBERS('none')}`],
  [several(0, 1), '0\n', [], `${LIST}${NUMBERS('2')}`],
  [several(1, 1, 2), '\n', [1, 2], `${LIST}${NUMBERS('2 3')}`],
  [
    several(1, 1, 2),
    'none\n1 4 x\n3, 1 3\n',
    [0, 2],
    `${LIST}${NUMBERS('2 3')}  choose at least one\n${NUMBERS('2 3')}  4 is not a number from the list\n${NUMBERS('2 3')}`,
  ],
])('asks %j, and %j answers %j', async (question, typed, answer, printed) => {
  expect(await asked(question, typed)).toEqual({ answer, printed });
});

let stopping: AbortController;
const stops = () => {
  stopping.abort();
  return 'too short';
};

/** Each row is a question, what a person types, whether stdin ends then, and all that is printed. */
test.each<[Question, typed: string, ends: boolean, printed: string]>([
  [KEY, 'ab\u0003', false, 'Key (input hidden) \n'],
  [KEY, 'ab\u0004', false, 'Key (input hidden) \n'],
  [KEY, 'ab', true, 'Key (input hidden) \n'],
  [text({ check: stops }), 'a\n', false, 'Name   too short\nName \n'],
  [confirm(true), 'a\n', true, 'Go? yes or no [yes]   type yes or no\nGo? yes or no [yes] \n'],
])('cancels %j after %j', async (question, typed, ends, printed) => {
  const raw: boolean[] = [];
  const [stdin, stderr] = [
    Object.assign(new PassThrough(), { setRawMode: (on: boolean) => raw.push(on) }),
    new PassThrough(),
  ];
  stopping = new AbortController();
  const options = { stdin, stderr, signal: stopping.signal, env: {}, colour: false };
  const answer = lineAsker(options)(question);
  stdin.write(typed);
  if (ends) stdin.end();
  await expect(answer).rejects.toThrow('Cancelled.');
  expect({ printed: String(stderr.read()), raw }).toEqual({
    printed,
    raw: question === KEY ? [true, false] : [],
  });
  expect(stdin.listenerCount('data')).toBe(0);
});

test.each([
  ['one two three', {}, 'one two\nthree\n'],
  // An indented line already has its layout.
  ['  one two three', {}, '  one two three\n'],
  ['1 ₽\u001b[2J', {}, '1 ₽\n'],
  ['1 ₽', { LC_ALL: 'C' }, '1 RUB\n'],
])('prints the line %j with %j', (line, env, printed) => {
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  const { print } = createPrompts({
    ...{ stdin, stderr: Object.assign(stderr, { columns: 8 }), env, colour: false },
  });
  print(line);
  expect(String(stderr.read())).toBe(printed);
});
