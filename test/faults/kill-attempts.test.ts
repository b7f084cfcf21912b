import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { outcomeOf, RUNNER } from '../support/program.ts';
import { randomNumbers, runs } from '../support/random.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { OUTCOMES, type ScriptedOutcome, ScriptedService } from '../support/scripted-service.ts';
import { startService } from '../support/service.ts';
import { type Bundle, builtBundle } from './bundle.ts';
import { type Row, recordsOn } from './rig.ts';

const OFFERS = [1, 2, 3].map((n) => `11111111-1111-4222-8333-44445555000${n}`);
const POLL = ['--wait', '--poll-interval', '500ms', '--json'];
const SEVERAL_OFFERS = [
  ...['instances', 'create', 'trainer', ...HARDWARE.slice(2)],
  ...OFFERS.flatMap((offer) => ['--offer', offer]),
  ...POLL,
];
const SEVERAL_INSTANCES = ['instances', 'create', 'gpu', ...HARDWARE, '--count', '3', ...POLL];

/** When to send SIGKILL: at a point of the service, or after a time. */
type Moment = { readonly point: number } | { readonly afterMs: number };

const random = randomNumbers();
const below = (most: number) => Math.floor(random() * most);

function pick(): ScriptedOutcome {
  const outcome = OUTCOMES[below(OUTCOMES.length)];
  if (outcome === undefined) throw new Error('nothing to pick from');
  return outcome;
}

let bundle: Bundle;
beforeAll(async () => {
  bundle = await builtBundle();
});
afterAll(() => bundle.remove());

/** Starts the command, kills it and returns the violations. */
async function playOne(argv: readonly string[], moment: Moment, most: number) {
  const home = await mkdtemp(join(tmpdir(), 'gpucloud-attempts-'));
  const state = join(home, 'state');
  let child: ChildProcess | undefined;
  let points = 0;
  const strike = async () => {
    // Skips a process that has exited.
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child?.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    script.isProcessDead = true;
  };
  const script = new ScriptedService(
    Array.from({ length: 1 + below(6) }, pick),
    async () => {
      points += 1;
      if ('point' in moment && points === moment.point) await strike();
    },
    async (name) =>
      (await recordsOn(state)).some((one) => one.kind === 'open' && one.name === name),
  );
  const service = await startService(script.handler);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GPUCLOUD_CONFIG_DIR: join(home, 'config'),
    GPUCLOUD_STATE_DIR: state,
    GPUCLOUD_BASE_URL: service.url,
    GPUCLOUD_API_KEY: 'svc_sk_attempts0123456789abcdef',
  };
  const start = (words: readonly string[]) =>
    spawn(RUNNER, [bundle.path, ...words], { env, cwd: home });
  try {
    const killed = start(argv);
    child = killed;
    const timer = 'afterMs' in moment ? setTimeout(() => void strike(), moment.afterMs) : undefined;
    const ran = await outcomeOf(killed);
    clearTimeout(timer);
    const isKilled = killed.signalCode === 'SIGKILL';
    script.isProcessDead = false;
    const problems: string[] = [];
    for (const when of ['after the kill', 'after the same command again']) {
      const list = await outcomeOf(start(['instances', 'list', '--json']));
      const rows: Row[] = JSON.parse(list.stdout);
      const living = script.living();
      problems.push(
        ...script.faults.splice(0),
        ...script.doubled().map((name) => `${name} lives twice`),
        ...(living.length > most ? [`${living.length} live`] : []),
        ...living
          .filter(
            ({ id, name }) =>
              !rows.some((row) => row.id === id || (row.status === 'UNKNOWN' && row.name === name)),
          )
          .map(({ id }) => `the list does not show ${id}`),
      );
      if (problems.length > 0) {
        const played = JSON.stringify({ moment, used: script.used, isKilled });
        problems.push(`${when}: ${played}\n${ran.stderr}\n${list.stdout}${list.stderr}`);
        break;
      }
      if (when === 'after the kill') await outcomeOf(start(argv));
    }
    return { problems, isKilled };
  } finally {
    await service.close();
    await rm(home, { recursive: true, force: true });
  }
}

describe('SIGKILL', { timeout: 1_800_000 }, () => {
  test.each([
    ['several offers', SEVERAL_OFFERS, 1],
    ['several instances', SEVERAL_INSTANCES, 3],
  ])(
    'never leaves two instances with one name, or one missing from the list, after SIGKILL: %s',
    async (_what, argv, most) => {
      const count = runs(60, 3);
      let kills = 0;
      for (let at = 0; at < count; at += 1) {
        // The fourth point is the response to the first POST, which always happens.
        const point = at === 0 ? 4 : 1 + below(12);
        const moment = at % 3 === 2 ? { afterMs: 150 + below(1200) } : { point };
        const { problems, isKilled } = await playOne(argv, moment, most);
        expect(problems).toEqual([]);
        if (isKilled) kills += 1;
      }
      expect(kills).toBeGreaterThan(0);
    },
  );
});
