import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { until } from '../support/until.ts';

let world: JobWorld;

// Built from parts, so that the value is not on this process's command line.
const PASSED = `hf_${'0123456789abcdef'.repeat(2)}`;
const OF_FILE = `it's a "$secret" ${'fedcba9876543210'}`;
const VALUES = [PASSED, OF_FILE];

/** Prints a checksum of both values, then waits for a file. */
const WAITS =
  'printf %s "$HF_TOKEN$WANDB_API_KEY" | cksum; echo x >result; while [ ! -f go ]; do sleep 0.1; done';

describe('values of passed variables', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
    await writeFile(
      join(world.computer.home, 'job.env'),
      `# of the job\nWANDB_API_KEY=${OF_FILE}\n`,
    );
    await mkdir(join(world.computer.home, 'code'));
    await writeFile(join(world.computer.home, 'code', 'train.py'), 'pass\n');
  });

  const passed = ['--pass-env', 'HF_TOKEN', '--env-file', 'job.env'];
  const env = () => ({ ...world.env, HF_TOKEN: PASSED, KEPT: 'by programs' });
  const go = () => writeFile(join(world.there, 'gpucloud-run', 'work', 'go'), '');

  test(
    'passes values to the command, but to no other process or file',
    needs('/proc/self/schedstat'),
    async () => {
      const copies = ['--sync', 'code', '--fetch', 'result', '--report', 'report.json'];
      const argv = [...world.words(...passed, ...copies), '--', 'sh', '-c', WAITS];
      const child = world.computer.start(argv, { env: env() });
      const ended = once(child, 'close');
      let stderr = '';
      child.stderr.on('data', (chunk) => {
        stderr += chunk;
      });
      const stdout = await heard(child, 'stdout', /\n/);
      expect(stdout).toBe(await cksum(VALUES.join('')));
      // ssh must run, since it holds the connection during the command.
      const programs = descendants(child.pid ?? 0);
      expect(programs.map(({ program }) => program)).toContain('ssh');
      for (const { environ } of programs) {
        expect(environ).toContain('KEPT=by programs');
        expect(VALUES.filter((value) => environ.includes(value))).toEqual([]);
      }
      const lines = everyCommandLine();
      expect(lines.some((line) => line.includes('script=$(cat)'))).toBe(true);
      expect(lines.filter((line) => VALUES.some((value) => line.includes(value)))).toEqual([]);
      await go();
      expect(await ended, stderr).toEqual([0, null]);
      expect(VALUES.filter((value) => stderr.includes(value))).toEqual([]);
      expect(await filesWith(world.there)).toEqual([]);
      expect(await filesWith(world.computer.home)).toEqual(['job.env']);
      expect(await readFile(join(world.computer.home, 'result'), 'utf8')).toBe('x\n');
    },
  );

  test('does not store the values, so attach terminates a job killed before its start', async () => {
    await world.sshd.stop();
    const argv = [...world.words('--pass-env', 'HF_TOKEN'), '--', 'sh', '-c', WAITS];
    const child = world.computer.start(argv, { env: env() });
    await heard(child, 'stderr', /Starting/);
    const jobs = join(world.computer.home, 'state', 'jobs');
    await until(async () =>
      (await readdir(jobs).catch(() => [])).some((name) => name.endsWith('.json')),
    );
    child.kill('SIGKILL');
    await once(child, 'close');
    await world.startSshd();
    const attach = ['jobs', 'attach', 'job', '--ssh-arg=-F/dev/null'];
    const { code, stderr } = await world.computer.gpucloud(attach, { env: world.env });
    expect(code, stderr).toBe(125);
    expect(stderr).toContain('never started, and the values of HF_TOKEN are not stored');
    expect(world.status()).toBe('TERMINATING');
    expect(await readdir(join(world.there, 'gpucloud-run')).catch(() => [])).not.toContain(
      'started',
    );
  });

  test('masks values in the command of a detached job', async () => {
    const command = ['sh', '-c', `: ${PASSED}; ${WAITS}`];
    const words = ['--detach', '--unenforced', ...passed];
    const argv = [...world.words(...words), '--', ...command];
    const started = await world.computer.gpucloud(argv, { env: env() });
    expect(started, started.stderr).toMatchObject({ code: 0 });
    expect(started.stderr).toContain("Running sh -c ': ********;");
    expect(started.stdout + started.stderr).not.toContain(PASSED);
    const gpucloud = (...more: string[]) => world.computer.gpucloud(more, { env: world.env });
    const listed = await gpucloud('jobs', 'list', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { status: 'RUNNING', command: ['sh', '-c', `: ********; ${WAITS}`] },
    ]);
    expect((await gpucloud('jobs', 'logs', 'job')).stdout).toBe(await cksum(VALUES.join('')));
    expect(await filesWith(world.computer.home)).toEqual(['job.env']);
    const stopped = await gpucloud('jobs', 'stop', 'job');
    expect(stopped, stopped.stderr).toMatchObject({ code: 0 });
    expect(await filesWith(world.computer.home)).toEqual(['job.env']);
    expect(await filesWith(world.there)).toEqual([]);
  });
});

/** Returns the output of `cksum` for a text. */
async function cksum(text: string): Promise<string> {
  const { execFileSync } = await import('node:child_process');
  return execFileSync('cksum', { input: text, encoding: 'utf8' });
}

/** Returns the files in a folder that contain one of the values. */
async function filesWith(folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = all.filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(0);
  return files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => VALUES.some((value) => readFileSync(path).includes(value)))
    .map((path) => path.slice(folder.length + 1));
}

const processes = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

function everyCommandLine(): string[] {
  return processes().map((pid) => readOr(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')));
}

function descendants(root: number): { program: string; environ: string }[] {
  const parents = new Map(
    processes().map((pid) => [
      Number(pid),
      Number(
        readOr(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
          .split(') ')[1]
          ?.split(' ')[1],
      ),
    ]),
  );
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === root || isBelow(parents.get(pid)));
  return [...parents]
    .filter(([, parent]) => isBelow(parent))
    .map(([pid]) => ({
      program:
        readOr(() => readlinkSync(`/proc/${pid}/exe`))
          .split('/')
          .at(-1) ?? '',
      environ: readOr(() => readFileSync(`/proc/${pid}/environ`, 'utf8')),
    }))
    .filter(({ environ }) => environ !== '');
}

/** Returns an empty string if the process exits during the read. */
function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
