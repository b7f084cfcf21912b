import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KEYS } from '../support/person.ts';
import {
  computer,
  expectNothingSent,
  instances,
  openTable,
  person,
  prepared,
  QUESTIONS,
} from './wizard.ts';

const { enter, down, up, ctrlC } = KEYS;

openTable();

test('fits every wizard prompt into 40 columns', async () => {
  await prepared();
  const one = person(['instances', 'create', '--dry-run', '--json'], { columns: 40 });
  for (const [question, answer] of QUESTIONS.slice(0, -1)) {
    const screen = await one.reads(question);
    const from = screen.lastIndexOf('\n? ') + 1;
    // The prompt, each choice and the help fit on one line each.
    for (const line of screen.slice(from).split('\n')) {
      expect(line).toMatch(/^(\? |❯| {2}|↑↓|$)|^[ ❯]*[◉◯]/);
    }
    await one.type(answer);
  }
  expect(await one.ended()).toBe(0);
  expect(one.screen()).toContain('✔ Cloud drive data');
});

test('shows the question once in 6 rows while the user scrolls and searches', async () => {
  const names = Array.from({ length: 14 }, (_, at) => ({
    service: 'sandbox',
    kind: 'offer',
    id: `offer-${at}`,
    given_name: `card ${at}`,
  }));
  await writeFile(
    join(computer.home, 'state', 'catalog.json'),
    JSON.stringify({ version: 1, names }),
  );
  const ask = ['instances', 'create', 'box-one', '--image', 'ubuntu-22-04', '--dry-run', '-q'];
  const one = person(ask, { rows: 6 });
  await one.reads(/\? Offer[\s\S]*type to search · ↑↓ navigate · ⏎ select/);
  await one.type(`${down}${down}${down}${up}`);
  const screen = await one.reads(/^❯ /m);
  expect(screen.match(/\? Offer/g)).toHaveLength(1);
  expect(screen.match(/^❯ /gm)).toHaveLength(1);
  await one.type('card 13');
  await one.answers(/^❯ card 13/m, enter);
  await one.reads(/✔ Offer \(the hardware\) card 13\n/);
  expect(one.screen().match(/Offer/g)).toHaveLength(1);
});

describe('TERM=dumb in the wizard', () => {
  const DUMB = { env: { TERM: 'dumb' } };

  test('asks the same questions with numbered choices, and writes no escape sequences', async () => {
    await prepared();
    const one = person(['instances', 'create', '--poll-interval', '500ms'], DUMB);
    await one.answers(/Instance name \[.+\] *$/m, `9ab${enter}`);
    await one.reads('must be 3 to 50 letters (a-z)');
    await one.type(`box-one${enter}`);
    await one.answers(
      /Offer \(the hardware\)[\s\S]*Number, or a part of the name \[1\] *$/m,
      `h100${enter}`,
    );
    await one.answers(/3\. H100 80GB, 299.*\n {2}4\. 8x H100[\s\S]*\[1\] *$/, `rtx 4090${enter}`);
    await one.answers(/Base image[\s\S]*\[1\] *$/, enter);
    await one.answers(/SSH keys\n {2}1\. laptop[\s\S]*\[1\] *$/, `7${enter}`);
    await one.answers('7 is not a number from the list', enter);
    await one.answers(/Software[\s\S]*\[1\] *$/, `jupyter${enter}`);
    await one.answers(/Cloud drive[\s\S]*\[1\] *$/, `2${enter}`);
    await one.answers(/Rent it\?[\s\S]*\[1\] *$/, enter);
    expect(await one.ended()).toBe(0);
    // Expects no colour, cursor move or spinner.
    expect(one.written()).not.toContain('\u001b');
    expect(one.written()).not.toMatch(/\r(?!\n)/);
    expect(one.screen()).toContain('Stop paying: gpucloud instances terminate box-one');
    expect(await instances()).toMatchObject([{ name: 'box-one', status: 'ACTIVE' }]);
  });

  test('sends nothing after Ctrl-C in the wizard', async () => {
    await prepared();
    const one = person(['instances', 'create'], DUMB);
    await one.answers(/Instance name \[.+\] *$/m, enter);
    await one.answers(/Offer[\s\S]*\[1\] *$/, ctrlC);
    await expectNothingSent(one);
  });

  test('hides the API key while the user types it', async () => {
    const one = person(['login', '--base-url', 'http://127.0.0.1:1'], {
      env: { TERM: 'dumb', GPUCLOUD_PROFILE: '' },
    });
    await one.answers(/API key for .* \(input hidden\) *$/m, `svc_sk_x${enter}`);
    expect(await one.ended()).toBe(6);
    expect(one.written()).not.toContain('svc_sk_x');
  });
});
