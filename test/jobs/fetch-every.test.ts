import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { programAt } from '../support/needs.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';

let world: LoopbackWorld;
let local: string;
beforeEach(async () => {
  world = await createLoopbackWorld();
  local = world.local('local');
});

/** A command that waits for the local file, since the instance is this computer. */
const here = (file: string, text: string) =>
  `i=0; until grep -q ${text} ${local}/${file} 2>/dev/null; do i=$((i+1)); [ $i -lt 200 ] || exit 9; sleep 0.1; done`;

const every = (time = '1s') => ['--fetch', `out:${local}`, '--fetch-every', time];

describe('run --fetch-every', () => {
  test('copies existing results with --fetch-every while the command runs, and all results at the end', async () => {
    const command = `mkdir out; echo one >out/a; ${here('a', 'one')}; echo two >out/a; ${here('a', 'two')}; echo last >out/b`;
    await world.run(command, every());
    expect(await readFile(join(local, 'a'), 'utf8')).toBe('two\n');
    expect(await readFile(join(local, 'b'), 'utf8')).toBe('last\n');
    expect(world.status()).toBe('TERMINATING');
  });

  test('warns once about a missing path in --fetch-every and keeps trying', async () => {
    const command = `sleep 2; mkdir out; echo one >out/a; ${here('a', 'one')}`;
    await world.run(command, every());
  });

  test("keeps the job running if --fetch-every can't write the local path", async () => {
    await writeFile(local, 'a file');
    await world.run('mkdir out; echo x >out/a; sleep 2', [...every(), '--keep-on-failure', '0s']);
    // The last copy fails too, so the job fails.
  });

  test('says nothing of a copy that the end of the command stops', async () => {
    const [begun, tar] = [world.local('begun'), programAt('tar')];
    const slow = `#!/bin/sh\n[ -e ${begun} ] || { touch ${begun}; exec sleep 60; }\nexec ${tar} "$@"\n`;
    await writeFile(world.local('../bin/tar'), slow, { mode: 0o755 });
    const command = `mkdir out; echo x >out/a; until [ -e ${begun} ]; do sleep 0.1; done`;
    await world.run(command, every());
  });

  test.each([
    ['without --fetch', ['--fetch-every', '1s'], '--fetch-every needs --fetch'],
    ['of 0s', every('0s'), '--fetch-every "0s"'],
  ])('rejects --fetch-every %s before renting', async (_why, flags, rule) => {
    const { code, stderr } = await world.run('true', flags);
    expect(code).toBe(2);
    expect(stderr).toContain(rule);
    expect(world.service.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });
});
