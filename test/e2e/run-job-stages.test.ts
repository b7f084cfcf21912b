import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { runFast } from '../jobs/fast-run.ts';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs, programAt } from '../support/needs.ts';
import { NEW } from '../support/renting-service.ts';
import { until } from '../support/ssh-world.ts';

let world: JobWorld;
let home: string;
describe('the stages of gpucloud run', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
    ({ home } = world.computer);
    await mkdir(join(home, 'project'));
    await writeFile(join(home, 'project', 'in.txt'), 'x\n');
  });

  function job(words: readonly string[], command: string, interrupts = ctrlC()) {
    return runFast(world, [...world.words(...words), '--', 'sh', '-c', command], { interrupts });
  }

  function ctrlC() {
    const [first, second] = [new AbortController(), new AbortController()];
    const press = () => first.abort(new CliError('interrupted', 'Interrupted.'));
    return { first: first.signal, second: second.signal, press };
  }

  /** Replaces ssh with a script in which `real` is the program. Returns the environment. */
  async function ssh(script: string) {
    const bin = join(home, 'bin');
    await mkdir(bin);
    const text = `#!/bin/sh\nreal() { ${programAt('ssh')} "$@"; }\n${script}\n`;
    await writeFile(join(bin, 'ssh'), text, { mode: 0o755 });
    return { PATH: `${bin}:${process.env.PATH}` };
  }

  test('resends Ctrl-C to the command after a lost connection', async () => {
    const mark = join(home, 'cut');
    const env = await ssh(
      `case $* in *'kill -s INT'*) [ -f ${mark} ] || { touch ${mark}; exit 255; } ;; esac; real "$@"`,
    );
    const keys = ctrlC();
    const command =
      'trap "exit 9" INT; touch up; i=0; while [ $i -lt 200 ]; do i=$((i+1)); sleep 0.1; done';
    const words = [...world.words(), '--', 'sh', '-c', command];
    const ended = runFast(world, words, { env, interrupts: keys });
    await until(() => existsSync(join(world.there, 'gpucloud-run', 'work', 'up')));
    keys.press();
    expect(await ended).toMatchObject({ code: 9 });
    expect(existsSync(mark)).toBe(true);
  });

  test("terminates an instance whose response can't be read", async () => {
    const { renting } = world;
    renting.posts = [
      () => {
        renting.rent(NEW, 'job');
        return { status: 201, body: `{"data": {"id": "${NEW}", "name": "job", "status": [` };
      },
    ];
    const report = join(home, 'report.json');
    expect(await job(['--report', report], 'true')).toMatchObject({ code: 125 });
    expect(world.status()).toBe('TERMINATING');
    expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({
      stage: 'renting',
      instance: { id: NEW },
      terminated: true,
    });
  });
});

describe('the output of gpucloud run', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
    ({ home } = world.computer);
  });

  const bash = (line: string) =>
    world.computer.bash(`${line}; echo "\${PIPESTATUS[0]}" >code`, { env: world.env });
  const SCRIPT = `'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo $i; done; echo done >end; exit 3'`;
  const line = () => `gpucloud ${world.words('--fetch', 'end').join(' ')} -- sh -c ${SCRIPT}`;

  test.each([
    ['is on a full disk', '/dev/full', '125'],
    ['has a reader that exits', '>(head -n 1 >first)', '3'],
  ])('runs the whole command if stdout %s', needs('/dev/full'), async (_what, target, code) => {
    await bash(`${line()} > ${target}`);
    expect((await readFile(join(home, 'code'), 'utf8')).trim()).toBe(code);
    expect(await readFile(join(home, 'end'), 'utf8')).toBe('done\n');
    expect(world.status()).toBe('TERMINATING');
  });
});
