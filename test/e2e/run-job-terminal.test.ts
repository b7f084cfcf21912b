import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs, programAt } from '../support/needs.ts';
import { KEYS, type Person, sitDown } from '../support/person.ts';

let world: JobWorld;
let one: Person;

function person(more: readonly string[], script: string, path = ''): Person {
  const env = path === '' ? world.env : { ...world.env, PATH: `${path}:${process.env.PATH}` };
  one = sitDown(world.computer, [...world.words(...more), '--', 'sh', '-c', script], { env });
  return one;
}

/** Installs a slow rsync. */
async function slowRsync(): Promise<string> {
  const bin = join(world.computer.home, 'bin');
  await mkdir(bin);
  const script = `#!/bin/sh\nexec ${programAt('rsync')} --bwlimit=500 "$@"\n`;
  await writeFile(join(bin, 'rsync'), script, { mode: 0o755 });
  return bin;
}

describe('gpucloud run in a terminal', needs('ssh', 'rsync'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });
  afterEach(async () => {
    await one.close();
  });

  test('keeps an unfinished line of the command, and shows the results and the cost at the end', async () => {
    person(['--fetch', 'x:results/x'], 'echo 1 >x; printf "\\033[31maccuracy 0.93"; sleep 2');
    await one.reads(/^accuracy 0.93$/m);
    expect(await one.ended()).toBe(0);
    expect(one.written()).toContain('accuracy 0.93\u001b[0m\r\n');
    expect(one.screen()).toMatch(
      /^accuracy 0.93\nsh -c 'echo 1 >x; printf .*…: exit code 0\nFetched results\/x\nTerminated job after \d+ s\.\nIt cost at most 89\.90 ₽: .*\d+ s running.*\.$/m,
    );
  });

  test('shows the progress of the copies, and explains the next Ctrl-C', async () => {
    // Stops after three quarters of the data.
    const tar = `#!/bin/sh\n${programAt('tar')} "$@" | { head -c 3000000; sleep 60; }\n`;
    await writeFile(join(await world.removeThere('tar'), 'tar'), tar, { mode: 0o755 });
    const source = join(world.computer.home, 'project');
    await mkdir(source);
    await writeFile(join(source, 'data'), Buffer.alloc(2_000_000, 'incompressible'));
    const script = 'echo up; mkdir out; cp data out/a; cp data out/b';
    person(['--sync', source, '--fetch', 'out'], script, await slowRsync());
    await one.reads(/^. Copying 1 file \(2.0 MB\) {2}█+░+ [1-9]\d? % of 2.0 MB/m);
    await one.reads(/^. Fetching out {2}█+░+ 7\d % of 4.0 MB/m);
    await one.type(KEYS.ctrlC);
    await one.reads(/^Still fetching results. Ctrl-C again terminates job and skips the rest.$/m);
    await one.type(KEYS.ctrlC);
    expect(await one.ended()).toBe(130);
    expect(one.screen()).toMatch(/^Interrupted.$/m);
    expect(world.status()).toBe('TERMINATING');
  });
});
