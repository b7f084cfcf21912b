import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { failuresOf } from '../../src/errors.ts';
import { askCommand } from '../../src/jobs/ask.ts';
import { oldResults } from '../../src/jobs/plan.ts';
import { ensureTargets } from '../../src/jobs/targets.ts';
import type { Prompts } from '../../src/prompts/prompts.ts';
import { needs } from '../support/needs.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { no, ok } from '../support/service.ts';
import { withoutTranscript } from '../support/transcript.ts';

let world: World;
let folder: string;

beforeEach(async () => {
  world = await createWorld({ handler: () => no(500, 'unexpected') });
  folder = join(world.home, 'here');
  await mkdir(join(folder, 'folder'), { recursive: true });
  await writeFile(join(folder, 'file'), 'x');
});
afterEach(() => world.close());

const ID = '3f0c5d9e-2222-4222-8333-444455556666';
const REQUEST = ['--offer', 'a-1', '--image', 'b-1', '--ssh-key', 'laptop'];

/** Adds the folder to the LOCAL part. */
const local = (text: string) => text.replace(':', `:${folder}/`);

/** Runs a command that exits with 2 before its first request, and returns stderr. */
async function refused(...more: string[]): Promise<string> {
  const words = ['run', ...REQUEST, '--terminate-after', '1h', ...more, '--', 'true'];
  const { code, stderr, requests } = await world.cli(words);
  expect({ code, requests: requests.length }, stderr).toEqual({ code: 2, requests: 0 });
  return stderr;
}

test.each([
  ['results', ['results/model'], ['results']],
  ['./results/', ['results/model'], ['results']],
  ['results', ['result', 'results2/a', 'a/results'], []],
  ['out/*.csv', ['out/a.csv'], ['out/*.csv']],
  ['out/*.csv', ['out/a.txt', 'a.csv'], []],
  ['/data/results', ['data/results'], []],
  ['out/model/best', ['out/model', 'out'], []],
])('finds earlier results of --fetch %s in %j', (remote, paths, found) => {
  const entries = paths.map((path) => ({ path, kind: 'file' as const }));
  expect(oldResults([{ remote, local: remote }], entries)).toEqual(found);
});

test.each([
  [' nvidia-smi ', ['nvidia-smi']],
  [' ./train.sh & ', ['sh', '-c', './train.sh &']],
])('runs the typed command %j', async (typed, words) => {
  expect(await askCommand({ text: async () => typed } as unknown as Prompts)).toEqual(words);
});

test.each<[string, string, boolean | undefined, boolean]>([
  ['a.csv', '', undefined, true],
  ['a.csv', '', true, false],
  ['a.csv', 'a.csv', true, true],
  ['a.csv', 'new/', true, true],
  ['*.csv', '', undefined, false],
])('%s into %s of the home folder, unattended %j, may be fetched: %s', async (...row) => {
  const [remote, local, isUnattended, may] = row;
  const home = world.home;
  const how = { home, ...(isUnattended !== undefined && { isUnattended }) };
  const fetch = [{ remote, local: join(home, local) }];
  const [fault] = await failuresOf(ensureTargets(fetch, () => '--fetch', how));
  const message = `--fetch "${remote}": "${home}" contains your home folder`;
  expect(fault?.message).toBe(may ? undefined : message);
});

describe('gpucloud run before renting', () => {
  test("rejects a report path that can't be written", async () => {
    const missing = join(folder, 'missing', 'report.json');
    expect(await refused('--report', missing)).toContain(`"${missing}" can't be written (ENOENT)`);
    expect(await refused('--report', folder)).toContain('is a folder');
    expect(await refused('--report', join(folder, 'file', 'a'))).toContain('(ENOTDIR)');
    expect(await refused('--report', '-')).toContain('COMMAND writes to stdout');
  });

  test("empties an earlier run's report, except with --dry-run", async () => {
    const report = join(folder, 'file');
    const words = ['--report', report, '--sync', join(folder, 'none')];
    await refused(...words, '--dry-run');
    expect(await readFile(report, 'utf8')).toBe('x');
    await refused(...words);
    expect(await readFile(report, 'utf8')).toBe('');
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(await refused('--report', join(folder, 'pipe'), ...words.slice(2))).toContain('--sync');
  });

  test('rejects --sync of the home folder, which has private keys', async () => {
    await symlink(world.home, join(folder, 'link'));
    for (const sync of [world.home, resolve(world.home, '..'), join(folder, 'link')]) {
      expect(await refused('--sync', sync)).toBe(
        `error: --sync can't be ${sync}, which contains your home folder and its keys\n`,
      );
    }
  });

  test("rejects --fetch to a path that can't become a folder", async () => {
    await refused('--fetch', `out:${join(folder, 'file', 'a', 'b')}`);
    const long = join(folder, 'n'.repeat(300));
    expect(await refused('--fetch', `out:${long}/a/b`)).toContain(
      `--fetch "out": "${long}/a" can't be written (ENAMETOOLONG)`,
    );
  });

  test('rejects --fetch to a dangling symlink', async () => {
    await symlink(join(folder, 'gone'), join(folder, 'link'));
    await refused('--fetch', `out:/.${join(folder, 'link')}`);
  });

  test.each(['/dev/stdout', '/dev/fd/2', '/dev/null', 'pipe', 'socket'])(
    'rejects --fetch to %s before renting',
    needs('POSIX'),
    async (name) => {
      const path = resolve(folder, name);
      if (name === 'pipe') execFileSync('mkfifo', [path]);
      const server = createServer();
      if (name === 'socket') await once(server.listen(path), 'listening');
      const stderr = await refused('--fetch', `x:/.${path}`);
      server.close();
      expect(stderr).toContain(`--fetch "x": "${path}" is not a regular file`);
    },
  );

  test.each([
    ['one file', 'a/x:out', 'b:out'],
    ['one name in the current folder', 'a/x', 'b/x'],
    ['one name in a folder', 'a/x:folder', 'b/x:folder/'],
  ])('rejects two fetches to %s', async (_, one, other) => {
    await refused('--fetch', local(one), '--fetch', local(other));
  });

  test.each([
    ['a missing folder', 'new/'],
    ['an existing folder', 'folder'],
  ])('rejects two paths that may be folders to %s', async (_, into) => {
    const stderr = await refused('--fetch', local(`a:${into}`), '--fetch', local(`b:${into}`));
    expect(stderr).toBe(
      `error: --fetch "b" and "a" may be folders, whose files would be mixed in "${join(folder, into).replace(/\/$/, '')}"\nhint: give each its own folder: 'REMOTE:LOCAL'\n`,
    );
  });

  test('rejects a pattern whose LOCAL is a file or contains the home folder', async () => {
    expect(await refused('--fetch', `*.csv:${join(folder, 'file')}`)).toMatch(
      /--fetch "\*\.csv": ".*\/file" is not a folder/,
    );
    expect(await refused('--fetch', `*.csv:${world.home}`)).toContain(
      `--fetch "*.csv": "${world.home}/" contains your home folder`,
    );
    const words = ['--fetch', `*.csv:${folder}`, '--fetch', `*.log:${join(folder, 'new')}`];
    expect(await refused(...words, '--sync', join(folder, 'none'))).toContain('--sync: the folder');
  });

  test.each([
    ['two patterns of different folders', 'a/*.csv:folder', 'b/*.csv:folder/'],
    ['two patterns into the current folder', 'a/*', 'b/*'],
    ['one pattern of several folders', 'run-?/a*:new', 'run-?/*b:new'],
    ['a pattern and a path that it matches', 'a/x.csv:folder/x.csv', 'b/*.csv:folder'],
    ['a path and a pattern that matches it', 'b/*.csv:folder', 'a/x.csv:folder'],
  ])('rejects %s as conflicting --fetch flags', async (_, one, other) => {
    const stderr = await refused('--fetch', local(one), '--fetch', local(other));
    for (const text of [one, other]) expect(stderr).toContain(`"${text.replace(/:.*/, '')}"`);
  });

  test.each([
    ['patterns of one folder', 'a/*.csv:folder', 'a/*.log:folder'],
    ['patterns into different folders', 'a/*:folder', 'b/*:new'],
    ['a pattern and a path with another name', 'a/*.csv:folder', 'b/x.log:folder'],
  ])('accepts %s in --fetch flags', async (_, one, other) => {
    const words = ['--fetch', local(one), '--fetch', local(other)];
    expect(await refused(...words, '--sync', join(folder, 'none'))).toContain('--sync: the folder');
  });

  test('lists all missing flags in one error', async () => {
    const { code, stderr, requests } = await world.cli(['run', '--image', 'b-1', '--', 'true']);
    expect({ code, requests: requests.length }).toEqual({ code: 2, requests: 0 });
    expect(stderr).toMatch(/^error: run: missing --offer, --terminate-after\nhint: see/);
  });

  test.each([
    ...['--name=train', '--offer=a', '--image=b', '--ssh-key=laptop', '--no-ssh-key'],
    ...['--template=t', '--drive=d', '--max-price=5', '--docker-image=x', '--docker-command=x'],
    ...['--shm-size=8', '--port=80:80', '--any-env-key', '--volume=/a:/b', '--terminate-after=1h'],
    ...['--terminate-at=18:00', '--unenforced', '--keep-on-failure=1h', '--dry-run'],
  ])('rejects the run flag %s with --on', async (flag) => {
    const words = ['run', '--on', 'dev', flag, '--', 'true'];
    const { code, stderr, requests } = await world.cli(words);
    expect({ code, requests: requests.length }, stderr).toEqual({ code: 2, requests: 0 });
    expect(stderr).toContain(flag.replace(/=.*/, ''));
  });

  test('rejects --pass-env with an unset variable or an invalid name', async () => {
    const names = ['--pass-env', 'HF_TOKEN', '--pass-env', 'HOME_OF_NONE'];
    expect(await refused(...names)).toBe(
      'error: --pass-env HF_TOKEN, HOME_OF_NONE: not set in the environment\n',
    );
    expect(await refused('--pass-env', 'UID')).toContain(`--pass-env "UID": can't be passed`);
    expect(await refused('--pass-env', '1X')).toContain('--pass-env "1X": must contain only');
    const typed = await refused('--pass-env', 'HF_TOKEN=hunter2000');
    expect(typed).toContain('--pass-env: must be a name without its value');
    expect(typed).not.toContain('hunter2000');
  });

  test('rejects an invalid --env-file without printing a value', async () => {
    const file = join(folder, 'job.env');
    await writeFile(file, 'A=hunter2000\nEUID=hunter2000\n');
    const stderr = await refused('--env-file', file);
    expect(stderr).toBe(
      `error: --env-file ${file}, line 2 "EUID": can't be passed: the instance's shell sets it\n`,
    );
    await writeFile(file, 'MY-KEY=hunter2000\n');
    expect(await refused('--env-file', file)).toBe(
      `error: --env-file ${file}, line 1 "MY-KEY": must contain only letters, digits and "_", and not start with a digit\n`,
    );
    await writeFile(file, 'A=hunter\x002000\n');
    expect(await refused('--env-file', file)).toBe('error: the variable "A" has a NUL byte\n');
    await writeFile(file, 'A=x\nHF_TOKEN\n');
    expect(await refused('--env-file', file)).toContain(
      `--env-file ${file}, line 2: "HF_TOKEN" has no value and is not set in the environment`,
    );
    expect(await refused('--env-file', join(folder, 'none'))).toContain('no such file');
  });

  test('hides passed variables from ssh but keeps other variables', needs('POSIX'), async () => {
    // Each sh adds other variables.
    withoutTranscript();
    const file = join(folder, 'job.env');
    await writeFile(file, 'OF_FILE=hunter2000\nCOPIED\n');
    const script = `#!/bin/sh\n/usr/bin/env >>${join(folder, 'seen')}\nexit 1\n`;
    await writeFile(join(folder, 'ssh'), script, { mode: 0o755 });
    const env = { PATH: folder, PASSED: 'correct-horse', COPIED: 'battery', OTHER: 'staple' };
    Object.assign(env, { DATA_PATH: 'secret' });
    const names = ['PASSED', 'PATH', 'DATA_PATH'].flatMap((name) => ['--pass-env', name]);
    const words = ['run', ...REQUEST, ...names, '--env-file', file, '--terminate-after', '1h'];
    expect((await world.cli([...words, '--', 'true'], { env })).code).toBe(2);
    const seen = await readFile(join(folder, 'seen'), 'utf8');
    expect(seen).toContain('OTHER=staple\n');
    expect(seen).toContain(`PATH=${folder}\n`);
    expect(seen).not.toMatch(/PASSED|COPIED|OF_FILE|DATA_PATH|GPUCLOUD_API_KEY/);
  });

  test('rejects an invalid --env without printing its value', async () => {
    expect(await refused('-e', 'EUID=hunter2000')).toBe(
      `error: --env "EUID": can't be passed: the instance's shell sets it\n`,
    );
    expect(await refused('-e', 'NOT_SET')).toBe(
      'error: --env: "NOT_SET" has no value and is not set in the environment\n',
    );
  });

  test(
    'passes --env-file to a container and masks variable values in the command',
    needs('ssh'),
    async () => {
      const file = join(folder, 'job.env');
      await writeFile(file, 'OF_FILE=hunter2000\nSHORT=local\nLEAST=secret\n');
      const ids = ['--ssh-key', '3f0c5d9e-2222-4222-8333-444455556666', '--identity', '/dev/null'];
      const hardware = ['--offer', ids[1], '--image', ids[1]].map(String);
      const flags = [
        ...[...hardware, ...ids, '--terminate-after', '1h', '--env-file', file],
        ...['--pass-env', 'PASSED'],
      ];
      const plan = async (...more: string[]) => {
        const words = ['run', ...flags, ...more, '--dry-run', '--json', '--'];
        const env = { PASSED: 'correct-horse' };
        const { stdout, stderr } = await world.cli(
          [...words, 'x', 'hunter2000', '-H=correct-horse', 'local', 'secrets'],
          { env },
        );
        expect(stdout, stderr).not.toContain('correct-horse');
        return JSON.parse(stdout);
      };
      Object.assign(world.clock, { random: () => 1e-5 });
      const alone = await plan();
      expect(alone.command).toEqual(['x', '********', '-H=********', 'local', '********s']);
      expect(alone.request.docker_config).toBeUndefined();
      expect(alone.request.instance_name).toBe('run-0115-1200-000g');
      const contained = await plan('--docker-image', 'ubuntu');
      const words = ['x', 'hunter2000', '-H=********', 'local', 'secrets'];
      expect(contained.command).toEqual(words);
      const keys = contained.request.docker_config.env.map(({ key }: { key: string }) => key);
      expect(keys).toEqual(['OF_FILE', 'SHORT', 'LEAST']);
    },
  );

  test('accepts two fetches to different files in a missing folder', async () => {
    const into = join(folder, 'new', 'results/');
    const words = ['--fetch', `a:${into}`, '--fetch', `b.csv:${into}`];
    expect(await refused(...words, '--sync', join(folder, 'none'))).toContain('--sync: the folder');
  });

  test('rejects an empty --sync, which would copy the current folder', async () => {
    expect(await refused('--sync', '')).toContain('--sync "": must not be empty');
  });

  test.each([[[]], [['--', '']]])('exits with 2 if the command is missing: %j', async (end) => {
    const argv = ['run', ...REQUEST, '--terminate-after', '1h', ...end];
    const { code } = await world.cli(argv);
    expect(code).toBe(2);
  });

  test('rejects a command line in a single word, unless a file has this name', async () => {
    const run = (...words: string[]) =>
      world.cli(['run', ...REQUEST, '--terminate-after', '1h', '--dry-run', ...words]);
    const { code, stderr, requests } = await run('--', 'python train.py --epochs 3');
    expect({ code, requests }, stderr).toEqual({ code: 2, requests: [] });
    await writeFile(join(folder, 'my script'), '');
    const other = await run('--sync', folder, '--', 'my script');
    expect(other.stderr).not.toContain('is a single word');
    await run('--', '4090');
  });

  test('shows the quotes that --offer RTX 4090 lacks', async () => {
    const words = ['--image', 'Ubuntu 22.04', '--terminate-after', '1h', '--', 'true'];
    const all = ['run', '--offer', 'RTX', '4090', ...words];
    const { code, stderr, requests } = await world.cli(all);
    expect({ code, requests }, stderr).toEqual({ code: 2, requests: [] });
  });

  test.each([
    [...REQUEST, '--terminate-after', '1h', '--', 'true'],
    ['--offer', 'x', '--', 'true'],
    ['-y', '--fetch', '--', 'true'],
  ])('refuses a name before the flags, which would be the command: %s %s', async (...flags) => {
    const { code, stderr, requests } = await world.cli(['run', 'long', ...flags]);
    expect({ code, requests, stderr }).toEqual({
      code: 2,
      requests: [],
      stderr:
        'error: COMMAND "long": the flags after it are not read\n' +
        'hint: to name the instance: gpucloud run --name long, then the flags, -- and the command\n',
    });
  });

  test("takes a command's own flags, which resemble those of run", async () => {
    const words = ['train', 'x--sync', '--', '--sync', 'x', '--fetch', '--'];
    const all = ['run', ...REQUEST, '--terminate-after', '1h', '--dry-run', '--', ...words];
    // Goes on to the service, which this test does not have.
    const { code, requests } = await world.cli(all);
    expect({ code, first: requests[0]?.path }).toEqual({ code: 1, first: '/ssh-keys' });
  });

  test('refuses a flag of gpucloud as the program', async () => {
    const words = ['run', ...REQUEST, '--terminate-after', '1h', '--', '--json', 'ls'];
    const { code, stderr, requests } = await world.cli(words);
    expect({ code, requests, stderr }).toEqual({
      code: 2,
      requests: [],
      stderr:
        'error: COMMAND "--json" is a flag: everything after -- belongs to COMMAND\n' +
        'hint: write the flags of gpucloud before --\n',
    });
  });

  test.each([
    [['--on', 'one', '--on=two', '--on', 'my box', '--', 'sh', '-c', 'a b'], " -- sh -c 'a b'"],
    [['--on=one', '--sync', '.', '--on', 'two', '--on', 'my box', 'make'], ' -- make'],
    [['--on', 'one', '--on', 'two', '--on', 'my box', '-f', 'job.yaml'], ''],
    [['--on', 'one,two,my box', '--', 'make'], ' -- make'],
  ])('prints the line that runs on each of several instances: %j', async (words, command) => {
    const { code, stderr, requests } = await world.cli(['run', ...words]);
    expect({ code, requests, stderr }).toEqual({
      code: 2,
      requests: [],
      stderr:
        'error: --on takes one instance, and got 3: one, two, my box. Nothing ran.\n' +
        'hint: run this line with your other flags. If you use --fetch, give each instance a folder: --fetch "results:results/$name"\n' +
        `  for name in one two 'my box'; do gpucloud run --on "$name" --detach${command}; done\n`,
    });
  });

  test.each(['one,', ',', 'one, one'])('rejects the list --on %j', async (name) => {
    const { code, requests, stderr } = await world.cli(['run', '--on', name, '--', 'make']);
    expect({ code, requests, stderr }).toEqual({
      code: 2,
      requests: [],
      stderr: `error: --on "${name}": use one name or ID, without commas\n`,
    });
  });

  test('refuses --on A B -- COMMAND if B is known here', async () => {
    await world.close();
    const dev = { id: ID, name: 'dev', status: 'ACTIVE' };
    world = await createWorld({
      handler: ({ path }) => ok(path === '/users/me' ? { id: 'u' } : dev),
    });
    await world.cli(['instances', 'track', ID]);
    const { code, stderr } = await world.cli(['run', '--on', 'other', 'DEV', '--', 'make', 'all']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'error: --on takes one instance, and got 2: other, DEV. Nothing ran.\n' +
        'hint: run this line with your other flags. If you use --fetch, give each instance a folder: --fetch "results:results/$name"\n' +
        '  for name in other DEV; do gpucloud run --on "$name" --detach -- make all; done\n',
    });
    await world.cli(['run', '--on', 'a,b', '--', 'make']);
    await world.cli(['run', '--on', 'other', 'time', '--', 'make']);
  });

  test('hides a passed value in the error about a single word', async () => {
    const words = ['--pass-env', 'TOKEN', '--', 'curl -H secret-token-value'];
    const all = ['run', ...REQUEST, '--terminate-after', '1h', ...words];
    const { code, stderr } = await world.cli(all, { env: { TOKEN: 'secret-token-value' } });
    expect(code).toBe(2);
    expect(stderr).not.toContain('secret-token-value');
  });

  test('notes a file of the command that is only on this computer', async () => {
    const notes = async (...words: string[]) => {
      const argv = ['run', ...REQUEST, '--terminate-after', '1h', '--dry-run', ...words];
      return (await world.cli(argv)).stderr.includes('package.json is on this computer');
    };
    const cat = ['--', 'cat', 'package.json', 'README.md'];
    expect(await notes(...cat)).toBe(true);
    expect(await notes('--', 'sh', '-c', 'cat package.json')).toBe(true);
    for (const words of [
      ['--sync', folder],
      ['--fetch', 'package.json:'],
    ])
      expect(await notes(...words, ...cat)).toBe(false);
    expect(await notes('--', 'cat', 'none.json', 'src')).toBe(false);
  });

  test('warns that --fetch would copy results of an earlier run back', async () => {
    await mkdir(join(folder, 'results'));
    const warns = async (...flags: string[]) => {
      const argv = ['run', ...REQUEST, '--terminate-after', '1h', '--dry-run', '--sync', folder];
      return (await world.cli([...argv, ...flags, '--', 'true'])).stderr.includes('--sync copies');
    };
    const fetch = ['--fetch', `results:${join(folder, 'results')}`];
    expect(await warns(...fetch)).toBe(false);
    await writeFile(join(folder, 'results', 'model'), 'old');
    expect(await warns(...fetch)).toBe(true);
    expect(await warns(...fetch, '--fetch', `file:${join(folder, 'new')}`)).toBe(true);
    expect(await warns(...fetch, '--exclude', 'results')).toBe(false);
  });

  test('exits with 2 if nothing enforces --if-idle', async () => {
    await writeFile(join(folder, 'ssh'), '#!/bin/sh\n', { mode: 0o755 });
    const ids = ['--offer', ID, '--image', ID, '--ssh-key', ID, '--identity', '/dev/null'];
    const words = ['run', ...ids, '--terminate-after', '1h', '--if-idle', '45m', '--', 'true'];
    await world.cli(words, { env: { PATH: folder } });
  });

  test(
    'names the largest, left out and special files of --sync with --dry-run',
    needs('POSIX'),
    async () => {
      const sizes = { 'a.bin': 700, 'b.bin': 900, 'sub/c.bin': 500, 'sub/d.bin': 300, tiny: 1 };
      await mkdir(join(folder, 'folder', 'sub'));
      for (const [name, size] of Object.entries(sizes)) {
        await writeFile(join(folder, 'folder', name), Buffer.alloc(size * 1000));
      }
      await writeFile(join(folder, 'folder', '.gitignore'), 'a.bin\n');
      const pipes = Array.from({ length: 6 }, (_, at) => join(folder, 'folder', `pipe-${at}`));
      execFileSync('mkfifo', pipes);
      await writeFile(Buffer.from(join(folder, 'folder', 'odd-\xff'), 'latin1'), 'x');
      await writeFile(join(folder, 'ssh'), '#!/bin/sh\n', { mode: 0o755 });
      const ids = ['--offer', ID, '--image', ID, '--ssh-key', ID, '--identity', '/dev/null'];
      const words = ['run', ...ids, '--terminate-after', '1h', '--sync', join(folder, 'folder')];
      const argv = [...words, '--dry-run', '--', 'true'];
      await world.cli(argv, { env: { PATH: folder } });
    },
  );

  test('rejects --sync with an unreadable folder or pattern file', async () => {
    await mkdir(join(folder, 'folder', '.gpucloudignore'));
    expect(await refused('--sync', join(folder, 'folder'))).toMatch(
      /\.gpucloudignore can't be read \(EISDIR\)/,
    );
    expect(await refused('--sync', join(folder, 'file'))).toMatch(/can't be read \(ENOTDIR\)/);
  });
});
