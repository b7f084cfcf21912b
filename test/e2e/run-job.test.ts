import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld, pathWithout } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';

let world: JobWorld;

describe('gpucloud run', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });

  test('runs a command on a new instance, prints its output, exits with its code and terminates', async () => {
    const { code, stdout, stderr } = await world.run(
      [],
      ['sh', '-c', 'echo out; echo err >&2; exit 3'],
    );
    expect({ code, stdout }).toEqual({ code: 3, stdout: 'out\n' });
    expect(stderr).toContain('err\n');
    expect(stderr).toMatch(/Terminated job after \d+ s\.\nIt cost at most 89\.90 ₽[.:]/);
    expect(world.status()).toBe('TERMINATING');
    expect(world.rentals()).toBe(1);
  });

  test.each(['rsync', 'tar'])('copies a folder in and results out with %s', async (way) => {
    const { computer } = world;
    const source = join(computer.home, 'my project');
    await mkdir(join(source, 'sub folder'), { recursive: true });
    await mkdir(join(source, '.git'));
    await writeFile(join(source, '.git', 'HEAD'), 'x');
    await writeFile(join(source, 'sub folder', "it's in.txt"), 'hello\n');
    await writeFile(join(source, 'skip.bin'), 'x');
    await writeFile(join(source, '.gpucloudignore'), '*.bin\n');
    const env =
      way === 'tar'
        ? { ...world.env, PATH: await pathWithout(computer.home, ['rsync']) }
        : world.env;
    const script =
      'ls -A; mkdir out; cp "sub folder/it\'s in.txt" out/result.txt; ln -s result.txt out/link';
    const words = world.words(
      '--sync',
      source,
      '--fetch',
      'out',
      '--fetch',
      'out/result.txt:single.txt',
      '--fetch',
      'out/result.txt:new/',
      '--fetch',
      'out/res*:matches',
      '--report',
      'report.json',
    );
    const done = await computer.gpucloud([...words, '--', 'sh', '-c', script], { env });
    expect(done).toMatchObject({ code: 0, stdout: '.gpucloudignore\nsub folder\n' });
    expect(await readFile(join(computer.home, 'out', 'link'), 'utf8')).toBe('hello\n');
    expect(await readFile(join(computer.home, 'single.txt'), 'utf8')).toBe('hello\n');
    expect(await readFile(join(computer.home, 'new', 'result.txt'), 'utf8')).toBe('hello\n');
    expect(await readFile(join(computer.home, 'matches', 'result.txt'), 'utf8')).toBe('hello\n');
    expect(JSON.parse(await readFile(join(computer.home, 'report.json'), 'utf8'))).toMatchObject({
      command_exit_code: 0,
      stage: 'done',
      terminated: true,
      fetched: ['out', 'single.txt', 'new/', 'matches/'].map((name) => join(computer.home, name)),
      cost_at_most: '89.90',
    });
  });
});
