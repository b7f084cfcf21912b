import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createEmulator, type Emulator } from '../output/emulator.ts';
import { programAt } from '../support/needs.ts';
import { nameIn } from '../support/renting-service.ts';
import { ok } from '../support/service.ts';
import { until } from '../support/ssh-world.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { ctrlC, followed } from './stories.ts';

let world: LoopbackWorld;
let terminal: Emulator;
beforeEach(async () => {
  world = await createLoopbackWorld();
  terminal = createEmulator(100, 20);
});

const go = () => writeFileSync(join(world.job, 'work', 'go'), '');

/** Waits until the screen matches, then returns it. */
async function shows(pattern: RegExp): Promise<string> {
  for (let tries = 0; tries < 500; tries += 1) {
    const screen = await terminal.screen();
    if (pattern.test(screen)) return screen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`never shown: ${pattern}\n${await terminal.all()}`);
}

test('shows only the current phase and clears it before output and at the end', async () => {
  const command =
    'until [ -e go ]; do sleep 0.1; done; echo out; until [ -e on ]; do sleep 0.1; done';
  const ended = world.run(command, [], { terminal });
  const waiting = await shows(/ Running sh -c/);
  expect(waiting.match(/Starting|Connecting|Running/g)).toEqual(['Running']);
  // The screen can show the phase before the instance has the job's folder.
  await until(() => existsSync(join(world.job, 'work')));
  go();
  const printed = await shows(/^out$/m);
  expect(printed).not.toContain('Running');
  writeFileSync(join(world.job, 'work', 'on'), '');
  expect(await ended).toMatchObject({ code: 0 });
  const last = await terminal.screen();
  expect(last).toMatch(/^out\nsh -c .*: exit code 0\nTerminated job after /m);
  expect(last).not.toMatch(/Fetching|Terminating|Running/);
});

test('shows why gpucloud could not sign in', async () => {
  const reason = 'ssh: connect to host 127.0.0.1 port 22: Connection refused';
  let tries = 0;
  const programs: typeof world.ssh = {
    ...world.ssh,
    async startPiped(program, platform) {
      tries += 1;
      world.ssh.refuse = () => (tries === 1 ? reason : undefined);
      if (tries === 2) await shows(/ Connecting to job {2}ssh: .*refused$/m);
      return world.ssh.startPiped(program, platform);
    },
  };
  const ended = await world.run('true', ['--unenforced'], { terminal, programs });
  expect(ended).toMatchObject({ code: 0 });
});

test('shows a progress bar while fetching a result', async () => {
  const tar = `#!/bin/sh
${programAt('tar')} "$@" | { head -c 300000; until [ -e ${world.local('go')} ]; do sleep 0.1; done; cat; }
`;
  writeFileSync(world.local('../bin/tar'), tar, { mode: 0o755 });
  const command = 'mkdir out; head -c 900000 /dev/zero >out/r';
  const ended = world.run(command, ['--fetch', `out:${world.local('out')}`], { terminal });
  await shows(/ Fetching out {2}█+░+ 33 % of 9\d\d KB$/m);
  writeFileSync(world.local('go'), '');
  expect(await ended).toMatchObject({ code: 0 });
});

test('still shows the phase after a lost connection', async () => {
  const screens: string[] = [];
  const programs: typeof world.ssh = {
    ...world.ssh,
    async startPiped(program, platform) {
      if (program.args.at(-1)?.includes("'./r'")) {
        screens.push(await shows(/ Fetching r$/m));
        world.ssh.refuse = () => (screens.length === 1 ? 'Connection refused' : undefined);
      }
      return world.ssh.startPiped(program, platform);
    },
  };
  const words = ['--unenforced', '--fetch', `r:${world.local('r')}`];
  await world.run('echo x >r', words, { terminal, programs });
  expect(screens[1]).toMatch(/^warning: .*; trying\n {9}again\.\n. Fetching r$/m);
});

test('clears the phase once a detached job has started', async () => {
  const words = ['--detach', '--unenforced'];
  await world.run('true', words, { terminal });
  const screen = await shows(/gpucloud jobs attach job/);
  expect(screen).not.toMatch(/Starting|Connecting|Running sh/);
});

test('shows and then clears the renting phase', async () => {
  let answer: (() => void) | undefined;
  const { renting } = world;
  renting.posts = [
    ({ body }) =>
      new Promise((resolve) => {
        answer = () => resolve(ok(renting.rent(renting.newId(), nameIn(body)), 201));
      }),
  ];
  const ended = world.run('true', ['--unenforced'], { terminal });
  await shows(/ Renting job/);
  await until(() => answer !== undefined);
  answer?.();
  expect(await ended).toMatchObject({ code: 0 });
  expect(await terminal.all()).not.toContain('Renting');
});

test.each(['x', 'long', ''])(
  'begins a message on a new line after the unfinished output %j',
  async (text) => {
    const ended = await world.run(`printf "${text}"; exit 3`, ['--unenforced'], { terminal });
    expect(ended).toMatchObject({ code: 3 });
    const lines = (await terminal.all()).split('\n');
    const at = lines.findIndex((line) => line.startsWith('sh -c'));
    expect(lines[at]).toMatch(/: exit code 3$/);
    if (text !== '') expect(lines[at - 1]).toBe(text);
  },
);

test("begins a message on a new line after the terminal's ^C", async () => {
  const { interrupts, press } = ctrlC();
  const command = 'trap "exit 9" INT; echo out; touch up; until [ -e go ]; do sleep 0.1; done';
  const ended = world.run(command, ['--unenforced'], { terminal, interrupts });
  await followed(world);
  await shows(/^out$/m);
  terminal.stream.write('^C');
  press();
  expect(await ended).toMatchObject({ code: 9 });
  expect(await terminal.all()).toMatch(/^Interrupting the command\. Ctrl-C again terminates job/m);
});
