import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../../../src/errors.ts';
import { TEST_KEY } from '../../../support/run-cli.ts';
import { HARDWARE } from '../../../support/sandbox-ids.ts';
import { no, ok } from '../../../support/service.ts';
import { until } from '../../../support/ssh-world.ts';
import { warningsOf } from '../../../support/stderr-lines.ts';
import {
  type DeadlineWorld,
  deadlineWorld,
  HOUR,
  ID,
  IN_FOUR_HOURS,
  journalFolders,
  recordsIn,
  rentForFourHours,
} from './world.ts';

let world: DeadlineWorld;
const REAP = ['instances', 'reap', '--json'];
const heard = () => join(world.home, 'heard');

/** Keeps the API key in the environment, as in CI. */
async function notifyBy(...words: string[]): Promise<void> {
  const profile = {
    base_url: world.service.url,
    account: { id: 'user-1' },
    ...(words.length > 0 ? { notify: words } : {}),
  };
  await mkdir(join(world.home, 'config'), { recursive: true });
  const file = { current: 'work', profiles: { work: profile } };
  await writeFile(join(world.home, 'config', 'config.json'), JSON.stringify(file), { mode: 0o600 });
}

/** Installs a program that appends its input to a file. */
async function listener(then = ''): Promise<string> {
  const path = join(world.home, 'listener');
  const script = `#!/bin/sh\n{ echo "key=$GPUCLOUD_API_KEY"; echo "$GPUCLOUD_EVENT"; cat; } >>${heard()}\n${then}\n`;
  await writeFile(path, script);
  await chmod(path, 0o755);
  return path;
}

/** Returns the lines that the program received. */
const lines = async () => (await readFile(heard(), 'utf8')).trim().split('\n');

describe('profiles set --notify', () => {
  beforeEach(async () => {
    world = await deadlineWorld();
    await notifyBy();
  });

  test('runs the --notify command once for a termination at the deadline, without the key', async () => {
    await notifyBy(await listener());
    await rentForFourHours(world);
    world.clock.advance(5 * HOUR);
    const passes = await Promise.all([world.cli(REAP), world.cli(REAP)]);
    expect(passes.map(({ code }) => code)).toEqual([0, 0]);
    const [key, inEnvironment = '', onStdin, ...more] = await lines();
    expect({ key, more }).toEqual({ key: 'key=', more: [] });
    expect(onStdin).toBe(inEnvironment);
    expect(JSON.parse(inEnvironment)).toEqual({
      event: 'terminated_at_deadline',
      id: ID,
      name: 'trainer',
      message: 'trainer was terminated at its deadline.',
      exit_code: null,
      at: expect.any(String),
    });
    expect(await readFile(heard(), 'utf8')).not.toContain(TEST_KEY);
  });

  test('runs the --notify command once for a failed termination, and once for the termination', async () => {
    await notifyBy(await listener());
    await rentForFourHours(world);
    world.clock.advance(5 * HOUR);
    const refuse = () => no(409, 'Wrong state');
    // Each pass sends four requests.
    world.rented.terminations = Array.from({ length: 8 }, () => refuse);
    for (let pass = 0; pass < 2; pass += 1) expect((await world.cli(REAP)).code).not.toBe(0);
    expect((await world.cli(REAP)).code).toBe(0);
    const events = (await lines()).filter((_line, at) => at % 3 === 1);
    expect(events.map((text) => JSON.parse(text).event)).toEqual([
      'terminate_failed',
      'terminated_at_deadline',
    ]);
  });

  test.each(['POST', 'pause'] as const)(
    'exits with 7 and the ID, and sends no event, after Ctrl-C at the %s',
    async (at) => {
      await notifyBy(await listener());
      await rentForFourHours(world);
      world.clock.advance(5 * HOUR);
      const first = new AbortController();
      const press = () => first.abort(new CliError('interrupted', 'Interrupted.'));
      world.rented.terminations = Array.from({ length: 4 }, () => () => {
        if (at === 'POST') press();
        return no(409, 'Wrong state');
      });
      const { sleep } = world.clock;
      world.clock.sleep = (milliseconds, signal) => {
        if (at === 'pause' && milliseconds === 2_000) press();
        return sleep(milliseconds, signal);
      };
      const interrupts = { first: first.signal, second: new AbortController().signal };
      await world.cli(REAP, { interrupts });
      expect(existsSync(heard())).toBe(false);
    },
  );

  test('prints and sends what ended before Ctrl-C', async () => {
    const other = ID.replace('3f', '4f');
    await notifyBy(await listener());
    await rentForFourHours(world);
    world.rented.newId = () => other;
    const argv = ['instances', 'create', 'lab', ...HARDWARE, ...IN_FOUR_HOURS];
    expect((await world.cli(argv)).code).toBe(0);
    world.clock.advance(5 * HOUR);
    const first = new AbortController();
    const answers = [
      (id: string) => ok(world.rented.rent(id, 'ended', { status: 'TERMINATED' })),
      () => no(429, 'busy'),
    ];
    world.rented.terminations = Array.from({ length: 9 }, () => (id) => {
      const [answer = answers[1]] = id === ID ? answers : answers.slice(1);
      return answer?.(id) ?? 'hangUp';
    });
    const { sleep } = world.clock;
    world.clock.sleep = async (milliseconds, signal) => {
      if (milliseconds !== 2_000) return sleep(milliseconds, signal);
      await until(() => recordsIn(world, 'archive').length > 0);
      first.abort(new CliError('interrupted', 'Interrupted.'));
      return sleep(milliseconds, signal);
    };
    const interrupts = { first: first.signal, second: new AbortController().signal };
    await world.cli(REAP, { interrupts });
    const events = (await lines()).filter((_line, at) => at % 3 === 1);
    expect(events.map((text) => JSON.parse(text).event)).toEqual(['terminated_at_deadline']);
  });

  test.each([
    ['fails', 'echo "No route. Try later." >&2; exit 3'],
    ['fails without a word', 'exit 4'],
    ['is noisy', 'head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; exit 3'],
  ])('only warns if the --notify command %s', async (_how, then) => {
    await notifyBy(await listener(then), 'secret-topic');
    await rentForFourHours(world);
    world.clock.advance(5 * HOUR);
    const { stderr } = await world.cli(REAP);
    expect(stderr).not.toContain('secret-topic');
  });

  test('tries a failed --notify command again at each pass, until it succeeds', async () => {
    await notifyBy(await listener(`test -e ${world.home}/online`));
    await rentForFourHours(world);
    world.clock.advance(5 * HOUR);
    const first = await world.cli(REAP);
    const at = new Date(world.clock.now()).toISOString();
    world.clock.advance(HOUR);
    const second = await world.cli(REAP);
    expect(warningsOf(second.stderr)).toEqual(expect.arrayContaining(warningsOf(first.stderr)));
    await writeFile(join(world.home, 'online'), '');
    world.clock.advance(HOUR);
    expect((await world.cli(REAP)).stderr).not.toContain('--notify');
    await world.cli(REAP);
    const events = (await lines()).filter((_line, line) => line % 3 === 1);
    const event = { event: 'terminated_at_deadline', id: ID, at };
    expect(events.map((text) => JSON.parse(text))).toMatchObject([event, event, event]);
  });

  test('gives up on a --notify command that fails for a day', async () => {
    await notifyBy(await listener('exit 1'));
    await rentForFourHours(world);
    world.clock.advance(5 * HOUR);
    for (const hours of [0, 23, 2]) {
      world.clock.advance(hours * HOUR);
      await world.cli(REAP);
    }
    expect(await lines()).toHaveLength(2 * 3);
  });

  test('sends an event that a killed process has stored, but not sent', async () => {
    await rentForFourHours(world);
    await notifyBy(await listener());
    const [folder = ''] = journalFolders(world, 'deadlines');
    const event = {
      ...{ version: 1, key: `${ID} job_ended x`, event: 'job_ended', id: ID, name: 'trainer' },
      ...{ message: 'Done.', exit_code: 3, at: world.at(0), sent_at: null },
    };
    await mkdir(join(folder, '..', 'events'));
    await writeFile(join(folder, '..', 'events', 'one.json'), JSON.stringify(event));
    await world.cli(REAP);
    expect(JSON.parse((await lines())[1] ?? '')).toMatchObject({
      event: 'job_ended',
      exit_code: 3,
    });
  });

  test('only warns if the --notify program is missing', async () => {
    await notifyBy(join(world.home, 'missing'));
    await rentForFourHours(world);
    world.clock.advance(5 * HOUR);
    await world.cli(REAP);
  });

  test('stores separate words of --notify, hides its arguments, and removes it with "none"', async () => {
    const set = async (value: string) =>
      JSON.parse(
        (await world.cli(['profiles', 'set', 'work', '--notify', value, '--json'])).stdout,
      );
    expect(await set('curl -d @- "https://ntfy.sh/my gpus"')).toMatchObject({ notify: 'curl' });
    const stored = JSON.parse(await readFile(join(world.home, 'config', 'config.json'), 'utf8'));
    expect(stored.profiles.work.notify).toEqual(['curl', '-d', '@-', 'https://ntfy.sh/my gpus']);
    expect(await set('none')).toMatchObject({ notify: null });
    await world.cli([...['profiles', 'set', 'work', '--notify', '"', '--json']]);
  });
});
