import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createPrompts } from '../../src/prompts/index.ts';
import type { Prompts } from '../../src/prompts/prompts.ts';
import { createEmulator } from '../output/emulator.ts';

const ENTER = '\r';
const DOWN = '\u001b[B';
const UP = '\u001b[A';

/** A terminal of 9 rows; without columns, its size is unknown. */
function atTerminal(colour: boolean, columns: number) {
  const { stream: stderr, screen, writes } = createEmulator(columns || 100, 9);
  if (columns === 0) Object.assign(stderr, { columns, rows: 0 });
  const stdin = Object.assign(new PassThrough({ autoDestroy: false }), {
    isTTY: true,
    setRawMode: () => undefined,
  });
  return { stdin, screen, writes, prompts: createPrompts({ stdin, stderr, env: {}, colour }) };
}

const rows = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: `offer-${at + 1}`,
    about: [`${at + 1} GB`],
    value: at,
  }));
const short = (text: string) =>
  text.length < 3 ? 'Use at least\u001b[2J 3 characters.' : undefined;

const KEYS = '↑↓ navigate · ⏎ select';
const SEARCH = `type to search · ${KEYS}`;
const FIRST = `❯ offer-1   1 GB
  offer-2   2 GB
  offer-3   3 GB
  offer-4   4 GB
  offer-5   5 GB`;
const at = (place: number) =>
  FIRST.replace('❯', ' ').replace(`  offer-${place}`, `❯ offer-${place}`);
/** The rows of a list of eight that fit, with a mark at the cursor and at what is chosen. */
const several = (cursor: number, chosen: readonly number[], ...below: string[]) =>
  [
    '? Offers?',
    ...[1, 2, 3, 4, 5].map(
      (at) =>
        `${at === cursor ? '❯' : ' '}${chosen.includes(at) ? '◉' : '◯'} offer-${at}  ${at} GB`,
    ),
    '',
    ...below,
    '↑↓ navigate · space select · a all · ⏎ submit',
  ].join('\n');

type Ask = (prompts: Prompts) => Promise<unknown>;
type Step = readonly [keys: string, screen: string];

async function draws(
  ask: Ask,
  steps: readonly Step[],
  answer: unknown,
  columns = 60,
): Promise<void> {
  const { stdin, screen, prompts } = atTerminal(false, columns);
  const answered = ask(prompts);
  for (const [keys, shown] of steps) {
    stdin.write(keys);
    await expect.poll(screen).toBe(shown);
  }
  expect(await answered).toEqual(answer);
}

/** Each row has a question, the whole screen after each group of keys, and the answer. */
test.each<[name: string, ask: Ask, steps: readonly Step[], answer: unknown]>([
  [
    'a text',
    (prompts) => prompts.text('Name?', { initial: 'box', check: short }),
    [
      ['', '? Name? (box)'],
      [`ab${ENTER}`, '? Name? ab\n> Use at least 3 characters.'],
      [`c${ENTER}`, '✔ Name? abc'],
    ],
    'abc',
  ],
  [
    'a secret',
    (prompts) => prompts.secret('Key?'),
    [
      ['', '? Key?'],
      ['abc', '? Key? •••'],
      [ENTER, '✔ Key? •••'],
    ],
    'abc',
  ],
  [
    'a choice',
    (prompts) => prompts.choose('Offer?', rows(10), { initial: 1 }),
    [
      ['', `? Offer?\n${at(2)}\n\n${KEYS}`],
      // The list ends at its first row.
      [UP + UP + DOWN, `? Offer?\n${at(2)}\n\n${KEYS}`],
      [DOWN, `? Offer?\n${at(3)}\n\n${KEYS}`],
      [ENTER, '✔ Offer? offer-3'],
    ],
    2,
  ],
  [
    'a search',
    (prompts) => prompts.choose('Offer?', [...rows(10), { name: 'another', value: 10 }]),
    [
      ['', `? Offer?\n${FIRST}\n\n${SEARCH}`],
      ['10', `? Offer? 10\n❯ offer-10  10 GB\n  another\n\n${SEARCH}`],
      [ENTER, '✔ Offer? offer-10'],
    ],
    9,
  ],
  [
    'several choices',
    (prompts) => prompts.chooseSeveral('Offers?', rows(8), { least: 1 }),
    [
      ['', several(1, [])],
      [ENTER, several(1, [], '> choose at least one')],
      [`${UP} `, several(1, [1])],
      [' ', several(1, [])],
      [` ${DOWN}${DOWN} `, several(3, [1, 3])],
      [ENTER, '✔ Offers? offer-1, offer-3'],
    ],
    [0, 2],
  ],
])('draws %s', async (_name, ask, steps, answer) => {
  await draws(ask, steps, answer);
});

test.each([
  ['(Y/n)', true, '', 'Yes'],
  ['(Y/n)', true, 'n', 'No'],
  ['(y/N)', false, '', 'No'],
  ['(y/N)', false, 'y', 'Yes'],
])('draws a confirmation %s', async (keys, initial, typed, answer) => {
  const ask = (prompts: Prompts) => prompts.confirm('Rent it?', initial);
  const steps = [
    ['', `? Rent it? ${keys}`] as const,
    [typed + ENTER, `✔ Rent it? ${answer}`] as const,
  ];
  await draws(ask, steps, answer === 'Yes');
});

test.each([
  [38, '↑↓ navigate · space select · ⏎ submit'],
  [37, '↑↓ navigate · ⏎ submit'],
  [22, '↑↓ navigate · ⏎ subm…'],
])('names the keys that fit into %i columns: %s', async (columns, keys) => {
  const ask = (prompts: Prompts) => prompts.chooseSeveral('Offers?', rows(1));
  const screen = `? Offers?\n❯◯ offer-1  1 GB\n\n${keys}`;
  await draws(
    ask,
    [
      ['', screen],
      [ENTER, '✔ Offers?'],
    ],
    [],
    columns,
  );
});

test('assumes 80 columns and 24 rows on a terminal of unknown size', async () => {
  const ask = (prompts: Prompts) => prompts.choose('Offer?', [{ name: 'x'.repeat(90), value: 1 }]);
  const screen = `? Offer?\n❯ ${'x'.repeat(76)}…\n\n${KEYS}`;
  await draws(
    ask,
    [
      ['', screen],
      [ENTER, `✔ Offer? ${'x'.repeat(69)}…`],
    ],
    1,
    0,
  );
});

test('colours the mark, the question, the answer and the keys', async () => {
  const { stdin, screen, writes, prompts } = atTerminal(true, 60);
  const answered = prompts.chooseSeveral('Offers?', rows(2), { least: 1 });
  await expect.poll(screen).toMatch(/submit$/);
  stdin.write(` ${ENTER}`);
  await expect.poll(screen).toBe('✔ Offers? offer-1');
  expect(await answered).toEqual([0]);
  const styled = writes.join('').match(/\u001b\[\d+m[^\u001b]+\u001b\[\d+m/g);
  expect([...new Set(styled)]).toEqual([
    '\u001b[36m?\u001b[39m',
    '\u001b[1mOffers?\u001b[22m',
    '\u001b[36m❯◯ offer-1  1 GB\u001b[39m',
    '\u001b[2m↑↓ navigate · space select · a all · ⏎ submit\u001b[22m',
    '\u001b[36m❯\u001b[32m',
    '\u001b[36m offer-1  1 GB\u001b[39m',
    '\u001b[32m✔\u001b[39m',
    '\u001b[36moffer-1\u001b[39m',
  ]);
});

test('colours no typed text of a search', async () => {
  const { stdin, screen, writes, prompts } = atTerminal(true, 60);
  const answered = prompts.choose('Offer?', rows(12));
  await expect.poll(screen).toMatch(/select$/);
  stdin.write('12');
  await expect.poll(screen).toMatch(/Offer\? 12\n/);
  stdin.write(ENTER);
  expect(await answered).toBe(11);
  const styled = writes.join('').match(/\u001b\[\d+m[^\u001b]+\u001b\[\d+m/g);
  expect([...new Set(styled)]).toEqual([
    '\u001b[36m?\u001b[39m',
    '\u001b[1mOffer?\u001b[22m',
    `\u001b[2m${SEARCH}\u001b[22m`,
    '\u001b[36m❯ offer-1   1 GB\u001b[39m',
    '\u001b[36m❯ offer-12  12 GB\u001b[39m',
  ]);
});
