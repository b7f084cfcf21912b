import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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

const { enter, tab, ctrlC, ctrlD, esc } = KEYS;

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
        '  Deadline  none: it bills until you terminate it; --terminate-after sets one',
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
      /Connect: +gpucloud instances ssh box-one\nOpen: +gpucloud instances open box-one\nDrive: +not mounted in the sandbox, so no file outlives the instance\nStop paying: gpucloud instances terminate box-one$/,
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

  // prompts/prompts.test.ts has each kind of question.
  test.each([
    ['Ctrl-D', ctrlD, 0],
    ['Esc', esc, 3],
    ['Ctrl-C', ctrlC, 6],
  ])('sends and stores nothing on %s %j at question %i', async (_name, key, at) => {
    await prepared();
    const one = person(['instances', 'create']);
    for (const [question, answer] of QUESTIONS.slice(0, at)) await one.answers(question, answer);
    await one.answers(QUESTIONS[at]?.[0] ?? /never/, key);
    await expectNothingSent(one);
    expect(one.screen().includes('To continue with your answers:')).toBe(at > 0);
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
});
