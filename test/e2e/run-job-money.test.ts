import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld, OFFER } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';
import { no } from '../support/service.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const OTHER_OFFER = '11111111-1111-4111-8111-222222222222';

let world: JobWorld;
const at = (...path: string[]) => join(world.computer.home, ...path);
const gpucloud = (...argv: string[]) => world.computer.gpucloud(argv, { env: world.env });

async function reap() {
  const { code, stdout, stderr } = await gpucloud('instances', 'reap', '--json');
  return { code, rows: JSON.parse(stdout || 'null'), stderr };
}

function start(more: readonly string[], command: string, env: object = {}) {
  const argv = [...world.words(...more), '--', 'sh', '-c', command];
  const child = world.computer.start(argv, { env: { ...world.env, ...env } });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += String(text);
  });
  const ended = once(child, 'close').then(([code]) => ({ code, stderr }));
  return { child, ended };
}

const sent = () => world.service.requests.filter(({ path }) => path.endsWith('/terminate')).length;

describe('the money and the results of gpucloud run', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });

  test('keeps 3,000 results for a later reap if its disk is full', {
    timeout: 90_000,
    ...needs('the right to mount'),
  }, async () => {
    const disk = await mountSmallDisk('24m');
    try {
      const env = { GPUCLOUD_STATE_DIR: join(disk.path, 'state') };
      const own = (...argv: string[]) =>
        world.computer.gpucloud(argv, { env: { ...world.env, ...env } });
      expect(await own('instances', 'reap', '--every', '30m')).toMatchObject({ code: 0 });
      const out = join(disk.path, 'out');
      const command =
        'echo up; while [ ! -f go ]; do sleep 0.1; done; mkdir out; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo $i >out/$i; done';
      const { child, ended } = start(['--fetch', `out:${out}`], command, env);
      await heard(child, 'stdout', /up/);
      await disk.fill();
      await writeFile(join(world.there, 'gpucloud-run', 'work', 'go'), '');
      const { code, stderr } = await ended;
      // Nothing on this computer can store a new deadline, so the old one stands.
      expect(code, stderr).toBe(125);
      expect(stderr).toContain('Kept job with its results until its old deadline');
      expect({ status: world.status(), sent: sent() }).toEqual({ status: 'ACTIVE', sent: 0 });
      await rm(join(disk.path, 'ballast'));
      const reaped = await own('instances', 'reap', '--json');
      expect(reaped.code, reaped.stderr).toBe(0);
      expect(JSON.parse(reaped.stdout)).toMatchObject([{ outcome: 'terminated', exit_code: 0 }]);
      expect((await readdir(out)).filter((name) => /^\d+$/.test(name))).toHaveLength(3_000);
      expect(world.status()).toBe('TERMINATING');
    } finally {
      await disk.remove();
    }
  });

  test('fetches nothing again after an uncertain end', async () => {
    world.renting.terminations = [() => no(403, 'Forbidden')];
    const { code, stderr } = await world.run(['--fetch', 'x'], ['sh', '-c', 'echo 1 >x']);
    expect(code, stderr).toBe(7);
    await writeFile(at('x'), 'edited');
    expect(await reap()).toMatchObject({ code: 0, rows: [{ outcome: 'terminated' }] });
    expect(await readFile(at('x'), 'utf8')).toBe('edited');
    expect(world.status()).toBe('TERMINATING');
  });

  test.each([
    ['several offers', ['--offer', OFFER, '--offer', OTHER_OFFER]],
    ['--retry-for', ['--offer', OFFER, '--retry-for', '10m']],
  ])('ends its instance after a refused reading with %s', async (_what, flags) => {
    world.renting.forbidden.add(`/instances/${NEW}`);
    world.renting.terminations = [
      (id) => {
        world.renting.forbidden.clear();
        return world.renting.terminate(id);
      },
    ];
    const { code, stderr } = await world.run(['--report', at('report'), ...flags], ['true']);
    expect({ code, status: world.status() }, stderr).toEqual({ code: 125, status: 'TERMINATING' });
    expect(JSON.parse(await readFile(at('report'), 'utf8'))).toMatchObject({
      instance: { id: NEW },
      terminated: true,
    });
  });

  // jobs/interrupts.test.ts has the other stages and signals.
  test.each([
    ['connecting', 'SIGTERM', 143, /Connecting/],
    ['copying', 'SIGINT', 130, /Copying/],
    ['running', 'SIGTERM', 143, /up/],
    // The first Ctrl-C after the command still fetches its results.
    ['fetching', 'SIGINT', 0, /Fetching/],
  ] as const)('ends its instance at %s on %s', async (stage, signal, expected, line) => {
    await mkdir(at('project'));
    await writeFile(at('project', 'in'), Buffer.alloc(3_000_000, 'x'));
    await world.replaceThere({ tar: 'real "$@"; code=$?; sleep 1; exit $code' });
    const flags = ['--sync', at('project'), '--fetch', 'out'];
    const { child, ended } = start(
      flags,
      `mkdir out; cp in out; echo up; sleep ${stage === 'running' ? 60 : 0}`,
    );
    await heard(child, stage === 'running' ? 'stdout' : 'stderr', line);
    child.kill(signal);
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(expected);
    expect(world.status()).toBe('TERMINATING');
    expect(sent()).toBe(1);
  });
});
