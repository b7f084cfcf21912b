import { execFile, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { outcomeOf, PROGRAM, RUNNER } from '../support/program.ts';
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { stderrLines } from '../support/stderr-lines.ts';
import { NO_FAULT, type Point } from './proxy.ts';
import { argvFor, openRig, type Rig, type Row } from './rig.ts';

const run = promisify(execFile);
const CREATE = argvFor('create', 'trainer');

let rig: Rig;
beforeEach(async () => {
  rig = await openRig(PROGRAM);
  await rig.proxy.arm(NO_FAULT);
});
afterEach(() => rig.close());

async function rows(env: Readonly<Record<string, string>> = {}): Promise<Row[]> {
  const { stdout } = await rig.gpucloud(['instances', 'list', '--json'], { env });
  return JSON.parse(stdout);
}

/** Returns the ID of the only instance. */
function made(): string {
  const [instance, second] = [...rig.books.instances.values()];
  if (instance === undefined || second !== undefined) throw new Error('not one instance');
  return instance.id;
}

describe('create with a file size limit of 0', { timeout: 120_000 }, () => {
  test('exits with 9 and sends nothing if the file size limit applies from the start', async () => {
    const line = 'ulimit -f 0; exec "$@"';
    const argv = ['-c', line, 'bash', RUNNER, PROGRAM, ...CREATE];
    const { code, stderr } = await outcomeOf(
      spawn('bash', argv, { env: { ...rig.env }, cwd: rig.home }),
    );
    expect(code).toBe(9);
    expect(stderrLines(stderr).at(-1)).toMatchObject({
      error: { code: 'storage', may_be_billing: false },
    });
    expect(rig.books.instances.size).toBe(0);
    expect(await rows()).toEqual([]);
  });

  test(
    'exits with 9 and prints the instance ID if the file size limit starts during the request',
    needs('prlimit'),
    async () => {
      let pid: number | undefined;
      await rig.proxy.arm(NO_FAULT, async (point: Point) => {
        if (point === 'acted') await run('prlimit', ['--pid', String(pid), '--fsize=0']);
      });
      const child = rig.start(CREATE);
      pid = child.pid;
      const { code, stdout, stderr } = await outcomeOf(child);
      const id = made();
      expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
      expect(stderrLines(stderr).at(-1)).toMatchObject({
        error: {
          code: 'storage',
          resource: id,
          may_be_billing: true,
          message: expect.stringContaining(id),
        },
      });
      expect(await rows()).toMatchObject([{ name: 'trainer', status: 'UNKNOWN' }]);
    },
  );
});

describe('create on a full disk', { timeout: 120_000, ...needs('the right to mount') }, () => {
  let disk: SmallDisk;
  beforeEach(async () => {
    disk = await mountSmallDisk('128k');
  });
  afterEach(() => disk.remove());

  test('exits with 9 and sends nothing if the disk is already full', async () => {
    const env = { GPUCLOUD_STATE_DIR: join(disk.path, 'state') };
    await disk.fill();
    const { code, stderr } = await rig.gpucloud(CREATE, { env });
    expect(code).toBe(9);
    expect(stderrLines(stderr).at(-1)).toMatchObject({
      error: { code: 'storage', may_be_billing: false },
    });
    expect(rig.proxy.posts).toBe(0);
  });

  test('prints the instance ID if the disk fills up before the response', async () => {
    const env = { GPUCLOUD_STATE_DIR: join(disk.path, 'state') };
    await rig.proxy.arm(NO_FAULT, (point) => (point === 'acted' ? disk.fill() : undefined));
    const { code, stdout, stderr } = await rig.gpucloud(CREATE, { env });
    const id = made();
    expect([0, 9]).toContain(code);
    expect(code === 0 ? stdout : stderr).toContain(id);
    const row = code === 0 ? { id, status: 'PROVISIONING' } : { id: null, status: 'UNKNOWN' };
    expect(await rows(env)).toMatchObject([{ ...row, name: 'trainer' }]);
    await rm(join(disk.path, 'ballast'));
    expect((await rig.gpucloud(['instances', 'track', id], { env })).code).toBe(0);
    expect(await rows(env)).toContainEqual(expect.objectContaining({ id, name: 'trainer' }));
  });
});
