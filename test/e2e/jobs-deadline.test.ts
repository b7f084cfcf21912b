import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runFast } from '../run-job/fast-run.ts';
import { createJobWorld, type JobWorld } from '../run-job/job-world.ts';
import { needs } from '../support/needs.ts';
import { until } from '../support/ssh-world.ts';
import { pause } from '../support/terminal.ts';

let world: JobWorld;

const at = (...path: string[]) => join(world.computer.home, ...path);
const gpucloud = (...argv: string[]) => world.computer.gpucloud(argv, { env: world.env });

/** Writes its result when it is interrupted. */
const CHECKPOINT = 'trap "echo x >result; exit 9" INT; echo up; while :; do sleep 0.1; done';
/** Ignores the interrupt. */
const STUBBORN = 'trap "" INT; echo x >result; echo up; while :; do sleep 0.1; done';

describe('the deadline of a job', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });
  afterEach(() => world.close());

  function job(time: string, grace: string, command: string) {
    const flags = ['--terminate-after', time, '--grace', grace, '--fetch', 'result'];
    const words = [...world.words(...flags), '--', 'sh', '-c', command];
    return world.computer.gpucloud(words, { env: world.env });
  }

  test('interrupts the command in time to fetch its results', async () => {
    const { code, stdout, stderr } = await job('30s', '20s', CHECKPOINT);
    expect({ code, stdout }, stderr).toEqual({ code: 9, stdout: 'up\n' });
    expect(stderr).toContain('job is near its deadline');
    expect(await readFile(at('result'), 'utf8')).toBe('x\n');
    expect(world.status()).toBe('TERMINATING');
  }, 60_000);

  test('fetches the existing results if the command ignores the interrupt', async () => {
    const { code, stderr } = await job('30s', '22s', STUBBORN);
    expect(code, stderr).toBe(125);
    expect(stderr).toContain('The command did not end after SIGINT');
    expect(await readFile(at('result'), 'utf8')).toBe('x\n');
    expect(world.status()).toBe('TERMINATING');
  }, 60_000);

  test('is enforced by reap for a job that no process follows', async () => {
    const words = ['--detach', '--unenforced', '--fetch', 'result'];
    const started = await world.run(words, ['sh', '-c', CHECKPOINT]);
    expect(started.code, started.stderr).toBe(0);
    // A tenth of an hour before the deadline, and five minutes until the next pass.
    world.advance(48 * 60_000);
    expect(await gpucloud('instances', 'reap', '--every', '5m', '--json')).toMatchObject({
      code: 0,
      stdout: '[]\n',
    });
    // The command is interrupted five seconds later, by the same pass.
    world.advance(6 * 60_000 - 5_000);
    const reaped = await gpucloud('instances', 'reap', '--every', '5m', '--json');
    expect(reaped, reaped.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(reaped.stdout)).toMatchObject([
      { outcome: 'terminated', reason: 'job', exit_code: 9 },
    ]);
    expect(await readFile(at('result'), 'utf8')).toBe('x\n');
    expect(world.status()).toBe('TERMINATING');
  }, 60_000);

  test('limits the wait for a lost connection during the fetch', async () => {
    await world.replaceThere({ tar: 'touch "$HOME/begun"; sleep 2; real "$@"' });
    const command = 'mkdir out; echo x >out/file';
    const words = [...world.words('--fetch', `out:${at('out')}`), '--', 'sh', '-c', command];
    const ended = runFast(world, words);
    await until(() => existsSync(join(world.there, 'begun')));
    await world.sshd.stop();
    // Minutes of the program's clock.
    await pause(3_000);
    await world.startSshd();
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('The results are still there; trying again.');
    expect(await readFile(at('out', 'file'), 'utf8')).toBe('x\n');
    expect(world.status()).toBe('TERMINATING');
  }, 60_000);

  test('refuses a grace that is longer than the job', async () => {
    const { code, stderr } = await job('1m', '2m', 'true');
    expect({ code, rentals: world.rentals() }, stderr).toEqual({ code: 2, rentals: 0 });
    expect(stderr).toContain('--grace');
  });
});
