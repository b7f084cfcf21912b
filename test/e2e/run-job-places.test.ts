import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs, programAt } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { until } from '../support/ssh-world.ts';
import { makeKey } from '../support/sshd.ts';
import { pause } from '../support/terminal.ts';

let world: JobWorld;

/** Starts a run, and waits until its command has printed `up`. */
async function started(more: readonly string[], script: string) {
  const child = world.computer.start([...world.words(...more), '--', 'sh', '-c', script], {
    env: world.env,
  });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }));
  await heard(child, 'stdout', /up/);
  return { child, ended };
}

const there = (...path: string[]) => join(world.there, 'gpucloud-run', 'work', ...path);

describe('the instance of gpucloud run', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });

  test.each([
    ['zsh', '.zshenv'],
    ['fish', '.config/fish/config.fish'],
  ])(
    'has the job in the home folder although a start file of %s changes the folder',
    needs('zsh', 'fish', 'rsync'),
    async (shell, file) => {
      await writeFile(join(world.there, '.shell'), `${programAt(shell)}\n`);
      await mkdir(join(world.there, file, '..'), { recursive: true });
      await writeFile(join(world.there, file), 'cd /\n');
      const source = join(world.computer.home, 'project');
      await mkdir(source);
      await writeFile(join(source, 'in'), 'x');
      const { ended } = await started(
        ['--sync', source, '--fetch', 'in:back', '--fetch', 'ran:ran'],
        'pwd -P >>ran; echo up; while [ ! -e go ]; do sleep 0.1; done; exit 4',
      );
      world.cutLinks();
      const list = ['jobs', 'get', 'job', '--json'];
      await until(async () => {
        const { stdout } = await world.computer.gpucloud(list, { env: world.env });
        return JSON.parse(stdout).status === 'RUNNING';
      });
      await writeFile(there('go'), '');
      expect(await ended).toMatchObject({ code: 4 });
      const here = (name: string) => readFile(join(world.computer.home, name), 'utf8');
      expect(await here('ran')).toMatch(/^[^\n]+\/home-1\/gpucloud-run\/work\n$/);
      expect(await here('back')).toBe('x');
    },
  );

  test('waits for a home folder that is missing for a while', async () => {
    const { ended } = await started([], 'echo up; sleep 5; exit 4');
    const { rename } = await import('node:fs/promises');
    await rename(world.there, `${world.there}-gone`);
    world.cutLinks();
    await pause(3_000);
    await rename(`${world.there}-gone`, world.there);
    expect(await ended).toMatchObject({ code: 4 });
  });

  test('may make new host keys until the first sign-in', async () => {
    const folder = join(world.there, '..');
    const first = makeKey(folder, 'first-host');
    const foreign = makeKey(folder, 'foreign-client');
    await world.sshd.stop();
    await world.startSshd({ hostKey: first, clientKey: `${foreign}.pub` });
    const child = world.computer.start([...world.words(), '--', 'echo', 'up'], { env: world.env });
    const ended = once(child, 'close');
    await heard(child, 'stderr', /Connecting/);
    await pause(2_000);
    await world.startSshd();
    expect((await ended)[0]).toBe(0);
    const stored = await readFile(join(world.computer.home, 'state/ssh/known_hosts'), 'utf8');
    const own = (await readFile(join(folder, 'host.pub'), 'utf8')).split(' ')[1] ?? 'none';
    expect(
      stored
        .trim()
        .split('\n')
        .filter((line) => line.startsWith(NEW)),
    ).toHaveLength(1);
    expect(stored).toContain(own);
  });

  test('ends with its command although a child of the command writes on', async () => {
    // A child that writes between any two looks at the output.
    await world.replaceThere({ wc: '[ ! -f exit ] || echo x >>out\nreal "$@"' });
    const { ended } = await started([], 'echo up; sleep 1; exit 3');
    expect(await ended).toMatchObject({ code: 3 });
    expect(world.status()).toBe('TERMINATING');
  });

  test('says that its full disk may have cut the output', needs('the right to mount'), async () => {
    const disk = await mountSmallDisk('1m');
    try {
      await chmod(disk.path, 0o755);
      await world.sshd.stop();
      await world.startSshd({ home: disk.path });
      const report = join(world.computer.home, 'report.json');
      const done = await world.run(
        ['--report', report],
        ['sh', '-c', 'head -c 3000000 /dev/zero 2>/dev/null; exit 0'],
      );
      expect(done.code, done.stderr).toBe(0);
      expect(done.stdout.length).toBeLessThan(3_000_000);
      expect(done.stderr).toContain('The disk of job is full');
      expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({ output_complete: false });
    } finally {
      await disk.remove();
    }
  });

  test('says that its disk is too small for the copy', needs('the right to mount'), async () => {
    const disk = await mountSmallDisk('1m');
    try {
      await chmod(disk.path, 0o755);
      await world.sshd.stop();
      await world.startSshd({ home: disk.path });
      const source = join(world.computer.home, 'project');
      await mkdir(source);
      for (const name of ['a', 'b', 'c']) {
        await writeFile(join(source, name), Buffer.alloc(800_000, name));
      }
      await world.removeThere('rsync');
      await writeFile(join(disk.path, '.path'), await readFile(join(world.there, '.path'), 'utf8'));
      const done = await world.run(['--sync', source], ['true']);
      expect(done.code).toBe(125);
      expect(done.stderr).toContain('No space left on device');
    } finally {
      await disk.remove();
    }
  });

  test(
    'prints all output although the disk here is full',
    needs('the right to mount'),
    async () => {
      const disk = await mountSmallDisk('1m');
      try {
        const env = { ...world.env, GPUCLOUD_STATE_DIR: disk.path };
        const argv = [...world.words(), '--', 'sh', '-c', 'head -c 3000000 /dev/zero; exit 3'];
        const done = await world.computer.gpucloud(argv, { env });
        expect(done.code, done.stderr).toBe(3);
        expect(done.stdout.length).toBe(3_000_000);
        expect(done.stderr.match(/Printing continues/g)).toHaveLength(1);
        expect(world.status()).toBe('TERMINATING');
      } finally {
        await disk.remove();
      }
    },
  );

  test('may refuse a user in its own words', async () => {
    const own = (await readFile(`${world.clientKey}.pub`, 'utf8')).trim();
    const keys = join(world.there, 'authorized_keys');
    const words = 'Please login as the user \\"ubuntu\\" rather than the user \\"root\\".';
    await writeFile(keys, `command="echo '${words}'; exit 142" ${own}\n`);
    await world.sshd.stop();
    await world.startSshd({ clientKey: keys, home: undefined } as never);
    const done = await world.run([], ['true']);
    expect(done.code).toBe(125);
    expect(done.stderr).toContain('Please login as the user "ubuntu" rather than the user "root".');
    expect(done.stderr).toContain('--user ubuntu');
  });
});

/** Connects like ssh. It outlives ssh and the test, and is silent once the file `dead` exists. */
const PROXY = `
const { existsSync, appendFileSync } = require('node:fs');
appendFileSync(process.argv[4], process.pid + '\\n');
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGPIPE']) process.on(signal, () => {});
setTimeout(() => process.exit(), 120_000);
process.stdin.on('error', () => {}).resume();
process.stdout.on('error', () => {});
if (!existsSync(process.argv[3])) {
  const socket = require('node:net').connect(Number(process.argv[2]), '127.0.0.1');
  socket.on('error', () => {});
  process.stdin.pipe(socket, { end: false });
  socket.pipe(process.stdout, { end: false });
}
`;

describe('a ProxyCommand that outlives ssh', needs('ssh'), () => {
  let dead: string;
  let pids: string;
  let proxy: string[];

  /** Lists the proxies that still run. A command that waits for them never ends within a test. */
  const alive = async () =>
    (await readFile(pids, 'utf8'))
      .trim()
      .split('\n')
      .map(Number)
      .filter((pid) => {
        try {
          return process.kill(pid, 0);
        } catch {
          return false;
        }
      });

  beforeEach(async () => {
    world = await createJobWorld();
    dead = join(world.computer.home, 'dead');
    pids = join(world.computer.home, 'proxies');
    const script = join(world.computer.home, 'proxy.cjs');
    await writeFile(script, PROXY);
    const line = `ProxyCommand=${process.execPath} ${script} ${world.sshd.port} ${dead} ${pids}`;
    proxy = ['--ssh-option', line];
  });

  afterEach(async () => {
    for (const pid of await alive()) process.kill(pid, 'SIGKILL');
  });

  test('does not delay the deadline', async () => {
    const more = [...proxy, '--terminate-after', '12s', '--grace', '0s'];
    const { ended } = await started(more, 'echo up; sleep 60');
    expect(await ended).toMatchObject({ code: 125 });
    expect(world.status()).toBe('TERMINATING');
    expect(await alive()).not.toEqual([]);
  });

  test('does not delay SIGTERM', async () => {
    const { child, ended } = await started(proxy, 'echo up; sleep 60');
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 143 });
    expect(world.status()).toBe('TERMINATING');
    expect(await alive()).not.toEqual([]);
  });

  test('does not delay jobs list', async () => {
    const { code } = await world.run([...proxy, '--detach', '--unenforced'], ['sleep', '60']);
    expect(code).toBe(0);
    await writeFile(dead, '');
    const listed = await world.computer.gpucloud(['jobs', 'list', '--json'], { env: world.env });
    expect(await alive()).not.toEqual([]);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ status: 'UNREACHABLE' }]);
    expect(existsSync(dead)).toBe(true);
  });
});
