import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createEmulator, type Emulator } from '../output/emulator.ts';
import { programAt } from '../support/needs.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';

let world: LoopbackWorld;
let terminal: Emulator;
beforeEach(async () => {
  world = await createLoopbackWorld();
  terminal = createEmulator(100, 20);
});
afterEach(() => world.close());

const go = () => writeFileSync(join(world.job, 'work', 'go'), '');

/** Waits until the screen shows this; returns the screen. */
async function shows(pattern: RegExp): Promise<string> {
  for (let tries = 0; tries < 500; tries += 1) {
    const screen = await terminal.screen();
    if (pattern.test(screen)) return screen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`never shown: ${pattern}\n${await terminal.all()}`);
}

test('a terminal shows one line for the phase, and clears it for output and for the end', async () => {
  const command =
    'until [ -e go ]; do sleep 0.1; done; echo out; until [ -e on ]; do sleep 0.1; done';
  const ended = world.run(command, [], { terminal });
  const waiting = await shows(/ Running sh -c/);
  expect(waiting.match(/Starting|Connecting|Running/g)).toEqual(['Running']);
  go();
  const printed = await shows(/^out$/m);
  expect(printed).not.toContain('Running');
  writeFileSync(join(world.job, 'work', 'on'), '');
  expect(await ended).toMatchObject({ code: 0 });
  const last = await terminal.screen();
  expect(last).toMatch(/^out\nsh -c .*: exit code 0\nTerminated job after /m);
  expect(last).not.toMatch(/Fetching|Terminating|Running/);
});

test('a terminal shows the share of a result that was copied', async () => {
  const tar = `#!/bin/sh
${programAt('tar')} "$@" | { head -c 300000; until [ -e ${world.local('go')} ]; do sleep 0.1; done; cat; }
`;
  writeFileSync(world.local('../bin/tar'), tar, { mode: 0o755 });
  const command = 'mkdir out; head -c 900000 /dev/zero >out/r';
  const ended = world.run(command, ['--fetch', `out:${world.local('out')}`], { terminal });
  await shows(/ Fetching out {2}█+░+ 33 %$/m);
  writeFileSync(world.local('go'), '');
  expect(await ended).toMatchObject({ code: 0 });
});

test('a terminal shows no phase after a detached job has started', async () => {
  const words = ['--detach', '--unenforced'];
  expect(await world.run('true', words, { terminal })).toMatchObject({ code: 0 });
  const screen = await shows(/gpucloud jobs attach job/);
  expect(screen).not.toMatch(/Starting|Connecting|Running sh/);
});
