import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { width } from '../../src/output/width.ts';
import { needs } from '../support/needs.ts';
import { KEYS } from '../support/person.ts';
import {
  computer,
  expectNothingSent,
  instances,
  openTable,
  person,
  prepared,
  QUESTIONS,
  run,
} from './wizard.ts';

const { enter, tab, ctrlC, ctrlD, esc, clearLine } = KEYS;

openTable();

describe('instances create without arguments', () => {
  test('asks for each value, rents, and shows how to connect and terminate', async () => {
    await prepared();
    const one = person(['instances', 'create', '--poll-interval', '500ms']);
    for (const [question, answer] of QUESTIONS) await one.answers(question, answer);
    expect(await one.ended()).toBe(0);
    const screen = one.screen();
    expect(screen).toContain(
      [
        '✔ Instance name box-one',
        '✔ Offer (the hardware) RTX 4090',
        '✔ Base image (the system) Ubuntu 22.04',
        '✔ SSH keys laptop',
        '✔ Software JupyterLab',
        '✔ Cloud drive data',
        '',
        'You are about to rent:',
        '  Name      box-one',
        '  Offer     RTX 4090, ru-1',
        '  Image     Ubuntu 22.04, CUDA 12.4',
        '  SSH keys  laptop',
        '  Runs      template JupyterLab',
        '  Drive     data',
        '  Price     89.90 ₽ per hour of sandbox play money',
        '  Balance   10,500.00 ₽',
        '',
        'Equivalent command:',
        '  gpucloud instances create box-one --offer rtx-4090 --image ubuntu-22-04 \\',
        '    --ssh-key laptop --template jupyterlab --drive data --wait',
        '',
        '✔ Rent it? Yes, rent it now',
      ].join('\n'),
    );
    expect(screen).toMatch(
      /Connect: +gpucloud instances ssh box-one\nOpen: +gpucloud instances open box-one\nStop paying: gpucloud instances terminate box-one$/,
    );
    expect(await instances()).toMatchObject([{ name: 'box-one', status: 'ACTIVE' }]);
  });

  test('completes the suggested name with Tab', async () => {
    const one = person(['instances', 'create']);
    await one.answers(/\? Instance name \(\w+-\w+\)$/m, tab);
    await one.reads(/\? Instance name \w+-\w+$/);
    await one.type(enter);
    await one.reads(/✔ Instance name \w+-\w+\n/);
  });

  test.each(QUESTIONS.map(([question], at) => [String(question), at] as const))(
    'sends and stores nothing on Ctrl-C at %s',
    async (_question, at) => {
      await prepared();
      const one = person(['instances', 'create']);
      for (const [question, answer] of QUESTIONS.slice(0, at)) await one.answers(question, answer);
      await one.answers(QUESTIONS[at]?.[0] ?? /never/, ctrlC);
      await expectNothingSent(one);
      expect(one.screen().includes('To continue with your answers:')).toBe(at > 0);
    },
  );

  test.each([
    ['Ctrl-D', ctrlD, 0],
    ['Ctrl-D', ctrlD, 3],
    ['Esc', esc, 0],
    ['Esc', esc, 1],
    ['Esc', esc, 3],
    ['Esc', esc, 6],
  ])('sends and stores nothing on %s %j at question %i', async (_name, key, at) => {
    await prepared();
    const one = person(['instances', 'create']);
    for (const [question, answer] of QUESTIONS.slice(0, at)) await one.answers(question, answer);
    await one.answers(QUESTIONS[at]?.[0] ?? /never/, key);
    await expectNothingSent(one);
  });

  test('generates an SSH key, adds it and rents with it', needs('ssh-keygen'), async () => {
    const one = person(['instances', 'create', 'box-one', '--image', 'ubuntu-22-04']);
    await one.answers(/\? Offer[\s\S]*select/, enter);
    await one.answers(
      /\? Add an SSH key to the account\?\n❯ Generate a new key \(~\/\.ssh\/id_ed25519\)[\s\S]*select/,
      enter,
    );
    await one.answers(/Enter passphrase .*: *$/m, enter);
    await one.answers(/Enter same passphrase again: *$/m, enter);
    await one.reads(/✓ Added .+ \(SHA256:.+\)\n/);
    await one.answers(/\? Software[\s\S]*select/, enter);
    await one.answers(/\? Rent it\?[\s\S]*select/, enter);
    expect(await one.ended()).toBe(0);
    const [key] = JSON.parse(await run(computer, 'ssh-keys', 'list', '--json'));
    expect((await readFile(join(computer.home, '.ssh', 'id_ed25519.pub'), 'utf8')).trim()).toBe(
      key.public_key,
    );
    expect((await stat(join(computer.home, '.ssh', 'id_ed25519'))).mode & 0o777).toBe(0o600);
    expect(await instances()).toMatchObject([{ ssh_keys: [{ id: key.id }] }]);
  });

  test('searches a long list of offers, and accepts an offer ID', async () => {
    const names = Array.from({ length: 14 }, (_, at) => ({
      service: 'sandbox',
      kind: 'offer',
      id: `offer-${at}`,
      given_name: `Карта ${at} 显卡 ${'длинное имя '.repeat(6)}`,
    }));
    await mkdir(join(computer.home, 'state'), { mode: 0o700 });
    await writeFile(
      join(computer.home, 'state', 'catalog.json'),
      JSON.stringify({ version: 1, names }),
    );
    const one = person([
      'instances',
      'create',
      'box-one',
      '--image',
      'ubuntu-22-04',
      '--dry-run',
      '-q',
    ]);
    await one.reads(/\? Offer[\s\S]*Карта 13[\s\S]*select/);
    const rows = one.lines().slice(1, 11);
    // Expects that no row wraps.
    expect(rows.filter((row) => !/^(❯| ) \S/.test(row))).toEqual([]);
    await one.type('显卡');
    await one.reads(/\? Offer \(the hardware\) 显卡\n❯ Карта/);
    const columns = one
      .lines()
      .filter((row) => row.includes('price unknown'))
      .map((row) => width(row.slice(0, row.indexOf('price unknown'))));
    expect(columns.length).toBeGreaterThan(5);
    expect(new Set(columns).size).toBe(1);
    expect(one.screen()).toContain('…');
    await one.type(`${clearLine}h100 sxm`);
    await one.reads(
      /\? Offer \(the hardware\) h100 sxm\n❯ 8x H100 80GB SXM5 +2,359\.60 ₽\/h.*\n {2}Another ID/,
    );
    await one.type(`${clearLine}zzz`);
    await one.reads(/❯ Another ID/);
    await one.type(enter);
    await one.answers(/\? ID of the offer *$/m, `../x${enter}`);
    await one.answers('an ID must have at most', `${clearLine}offer-99${enter}`);
    await one.reads(/✔ ID of the offer offer-99/);
  });
});
