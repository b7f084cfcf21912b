import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type CiRunner, createCiRunner, killed, LASTS } from '../jobs/ci-runner.ts';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';

let world: JobWorld;
let runner: CiRunner;

describe('the GitHub Action', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
    runner = await createCiRunner(world);
  });

  test('runs the command, fetches results, writes outputs, and terminates the instance', async () => {
    const command = 'echo one >one\necho two >two\necho done\nexit 3\n';
    const { code, stdout } = await runner.main({ command, fetch: 'one\ntwo:second' });
    expect({ code, stdout }).toEqual({ code: 3, stdout: 'done\n' });
    expect(await readFile(join(world.computer.home, 'second'), 'utf8')).toBe('two\n');
    expect(await runner.outputs()).toEqual({
      name: expect.stringMatching(/^ci-4711-[0-9a-f]{8}$/),
      'instance-id': NEW,
      'exit-code': '3',
      cost: '89.90',
    });
    expect(world.status()).toBe('TERMINATING');
    const sent = world.service.requests.length;
    expect(await runner.post()).toMatchObject({
      code: 0,
      stdout: 'Nothing is left to terminate.\n',
    });
    expect(world.service.requests.length).toBe(sent);
  });

  test('stops at the first failing line, even with CRLF', async () => {
    const { code, stdout } = await runner.main({ command: 'echo one\r\nfalse\r\necho two\r\n' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'one\n' });
  });

  test("ignores workflow commands in the command's output", async () => {
    const forged = '::save-state name=ended::true\n##[save-state name=name]other\n';
    const main = runner.startMain({
      command: `printf '${forged}::set-output name=cost::0\n'; printf '${forged}' >&2; ${LASTS}`,
    });
    await heard(main, 'stdout', /up/);
    await killed(main);
    expect((await runner.post()).code).toBe(0);
    expect(world.status()).toBe('TERMINATING');
    expect(await runner.outputs()).not.toHaveProperty('cost');
  });

  test('masks the API key everywhere', async () => {
    const key = world.env.GPUCLOUD_API_KEY;
    const { obeyed, stdout, stderr } = await runner.main({ command: 'true' });
    expect(obeyed).toEqual([{ name: 'add-mask', properties: {}, data: key }]);
    const [state, outputs] = [await runner.state(), await runner.outputs()];
    const lines = await runner.commandLines();
    expect(state).toHaveProperty('settings');
    expect(lines).toMatch(/^run --name ci-/);
    expect(JSON.stringify([stdout, stderr, state, outputs, lines])).not.toContain(key);
  });

  test('passes the named variables without their values on a command line', async () => {
    const command = 'echo "$ONE|$TWO|${THREE-unset}" >passed';
    const values = { ONE: 'the first value', TWO: '', THREE: 'not named' };
    const inputs = { command, env: 'ONE\r\nTWO\r\n', fetch: 'passed' };
    const { code, stderr } = await runner.main(inputs, values);
    expect(code, stderr).toBe(0);
    const passed = await readFile(join(world.computer.home, 'passed'), 'utf8');
    expect(passed).toBe('the first value||unset\n');
    expect(await runner.commandLines()).not.toContain('the first value');
    const sent = world.rentals();
    const unset = await runner.main({ command, env: 'NOT_SET' });
    expect({ code: unset.code, rentals: world.rentals() }).toEqual({ code: 2, rentals: sent });
  });

  test('fails with an installation hint if gpucloud is missing', async () => {
    const { code, obeyed } = await runner.main({ command: 'true', program: '/nowhere/gpucloud' });
    expect(code).toBe(1);
    expect(obeyed.at(-1)).toEqual({
      name: 'error',
      properties: { title: 'gpucloud' },
      data: expect.stringMatching(/^gpucloud was not found\. Install it/),
    });
    expect((await runner.post({ INPUT_PROGRAM: '/nowhere/gpucloud' })).code).toBe(0);
  });
});
