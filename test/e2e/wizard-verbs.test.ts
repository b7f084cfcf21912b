import { describe, expect, test } from 'vitest';
import { KEYS } from '../support/person.ts';
import { PROGRAM, RUNNER } from '../support/program.ts';
import { computer, instances, openTable, person, run } from './wizard.ts';

const { enter } = KEYS;

openTable();

describe('other commands without arguments', () => {
  test('asks on the terminal in terminate - about the instances of a pipe', async () => {
    const hardware = ['--offer', 'rtx-4090', '--image', 'ubuntu-22-04', '--no-ssh-key'];
    for (const name of ['one', 'two'])
      await run(computer, 'instances', 'create', name, ...hardware);
    const program = `'${RUNNER}' '${PROGRAM}'`;
    const line = `${program} instances list -q | ${program} instances terminate -`;
    const one = person(['-c', line], { program: ['bash'] });
    await one.answers('Terminate these 2 instances and their disks? (y/N)', `y${enter}`);
    expect(await one.ended()).toBe(0);
    for (const { status } of await instances()) expect(status).toMatch(/TERMINAT/);
  });
});
