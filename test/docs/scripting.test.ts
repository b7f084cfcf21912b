import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { needs } from '../support/needs.ts';
import {
  type Computer,
  createComputer,
  type Outcome,
  outcomeOf,
  PROGRAM,
  RUNNER,
} from '../support/program.ts';
import { IMAGE, OFFER } from '../support/sandbox-ids.ts';
import { ok, startService } from '../support/service.ts';
import { sshPublicKey } from '../support/ssh-key.ts';

/**
 * Runs every snippet of docs/scripting.md in bash, with the built program and the sandbox.
 * Stand-ins for `ssh` and `scp` record their arguments.
 */
const GUIDE = readFileSync(new URL('../../docs/scripting.md', import.meta.url), 'utf8');

interface Snippet {
  readonly heading: string;
  readonly language: string;
  readonly text: string;
}

function snippetsOf(markdown: string): Snippet[] {
  let heading = '';
  const found: Snippet[] = [];
  for (const [, title, language, text] of markdown.matchAll(
    /^## (.+)$|^```(\w+)\n([\s\S]*?)^```$/gm,
  )) {
    if (title !== undefined) heading = title;
    else found.push({ heading, language: language ?? '', text: text ?? '' });
  }
  return found;
}

const SNIPPETS = snippetsOf(GUIDE);

function bash(heading: string): string[] {
  return SNIPPETS.filter((one) => one.heading === heading && one.language === 'bash').map(
    ({ text }) => text,
  );
}

function first(texts: readonly string[]): string {
  const [text] = texts;
  if (text === undefined) throw new Error('the guide has no such snippet');
  return text;
}

const TESTED = [
  'Rent, run, copy back, terminate',
  'Rent each name only once',
  'Handle failures',
  'Pipe lists',
  'Stop idle instances',
  'Test scripts in the sandbox',
];

/** The sandbox of each test, with the key that SSH_KEY names. */
let filled: Computer;
let computer: Computer;
let bin: string;
beforeAll(async () => {
  filled = await createComputer();
  const profile = { GPUCLOUD_PROFILE: 'sandbox' };
  // A fast clock shortens pauses, but also the hours of instances.
  const fast = ['reset', '--yes', '--speed', '600', '--balance', '100000'];
  const key = ['ssh-keys', 'add', '-', '--name', 'laptop'];
  for (const argv of [['sandbox', ...fast], key]) {
    const stdin = sshPublicKey('ssh-ed25519');
    const { code, stderr } = await filled.gpucloud(argv, { env: profile, stdin });
    expect(code, stderr).toBe(0);
  }
});
afterAll(() => filled.remove());
beforeEach(async () => {
  computer = await createComputer();
  const filter = (path: string) => path !== join(stateOf(filled), 'cache');
  await cp(stateOf(filled), stateOf(computer), { recursive: true, filter });
  bin = join(computer.home, 'bin');
  await mkdir(bin);
  await script('gpucloud', `exec "${RUNNER}" "${PROGRAM}" "$@"`);
  await standIn('ssh');
  await standIn('scp');
});
afterEach(() => computer.remove());

function stateOf({ env }: Computer): string {
  return env.GPUCLOUD_STATE_DIR ?? '';
}

async function script(name: string, text: string): Promise<void> {
  const path = join(bin, name);
  await writeFile(path, `#!/usr/bin/env bash\n${text}\n`);
  await chmod(path, 0o755);
}

/** Installs a program that records its arguments between bars, then runs `then`. */
async function standIn(name: string, then = ''): Promise<void> {
  const log = join(computer.home, `${name}.log`);
  await script(name, `{ printf '%s|' "$@"; echo; } >> "${log}"\n${then}`);
}

async function callsOf(name: string): Promise<string[]> {
  return (await readFile(join(computer.home, `${name}.log`), 'utf8')).trim().split('\n');
}

function env(): Record<string, string> {
  return {
    ...computer.env,
    PATH: [bin, computer.env.PATH].join(delimiter),
    TMPDIR: computer.home,
    GPUCLOUD_PROFILE: 'sandbox',
    OFFER,
    IMAGE,
    SSH_KEY: 'laptop',
  };
}

/** Runs a snippet as a script file with arguments. */
async function run(text: string, argv: readonly string[] = [], more = {}): Promise<Outcome> {
  return outcomeOf(await start(text, argv, more));
}

async function start(
  text: string,
  argv: readonly string[] = [],
  more = {},
  interpreter: 'bash' | 'python3' = 'bash',
) {
  const path = join(computer.home, 'snippet');
  await writeFile(path, text);
  return spawn(interpreter, [path, ...argv], {
    // A process group of its own, as a shell gives it, so that a test can press Ctrl-C.
    detached: interpreter === 'python3',
    env: { ...env(), ...more },
    cwd: computer.home,
  });
}

async function gpucloud(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await computer.gpucloud(argv, {
    env: { GPUCLOUD_PROFILE: 'sandbox' },
  });
  expect(code, stderr).toBe(0);
  return stdout;
}

const rent = (name: string) =>
  gpucloud('instances', 'create', name, '--offer', OFFER, '--image', IMAGE, '--wait', '-q');

/** Makes `gpucloud instances create` wait until the test lets it continue. */
async function holdCreate() {
  const [sent, response] = ['sent', 'response'].map((name) => join(computer.home, name)) as [
    string,
    string,
  ];
  execFileSync('mkfifo', [response]);
  await script(
    'gpucloud',
    [
      `if [ "$2" = create ]; then touch '${sent}'; read -r _ < '${response}'; fi`,
      `exec "${RUNNER}" "${PROGRAM}" "$@"`,
    ].join('\n'),
  );
  return { isSent: () => existsSync(sent), now: () => writeFile(response, '\n') };
}

async function statuses(): Promise<Record<string, string>> {
  const rows: { name: string; status: string }[] = JSON.parse(
    await gpucloud('instances', 'list', '--all', '--json'),
  );
  return Object.fromEntries(rows.map(({ name, status }) => [name.replace(/\d+/, 'N'), status]));
}

const ENDED = expect.stringMatching(/^TERMINAT(ING|ED)$/);
const STOPPED = expect.stringMatching(/^STOPP(ING|ED)$/);

test('tests the bash snippets under every heading', () => {
  const headings = new Set(
    SNIPPETS.filter(({ language }) => language === 'bash').map(({ heading }) => heading),
  );
  expect([...headings].sort()).toEqual([...TESTED].sort());
  // `sh` marks environment variables, which the tests set themselves.
  const unrun = SNIPPETS.filter(({ language }) => language === 'sh');
  for (const { text } of unrun) expect(text).toMatch(/^(export [^\n;&|]+\n)+$/);
  expect(new Set(SNIPPETS.map(({ language }) => language))).toEqual(
    new Set(['sh', 'bash', 'python', 'yaml', 'crontab']),
  );
});

describe('the snippets of docs/scripting.md', needs('jq', 'awk'), () => {
  describe('rent, run, copy back, terminate', () => {
    const job = () => first(bash('Rent, run, copy back, terminate'));

    test(
      'runs the command, fetches the file and terminates the instance',
      needs('ssh'),
      async () => {
        await Promise.all(['ssh', 'scp'].map((name) => rm(join(bin, name))));
        const key = join(computer.home, '.ssh', 'id_ed25519');
        await mkdir(dirname(key), { recursive: true });
        execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
        await gpucloud('ssh-keys', 'add', `${key}.pub`, '--name', 'own');
        const command = 'nvidia-smi -L; echo made > model.bin';
        const { code, stdout, stderr } = await run(job(), [command, 'model.bin'], {
          SSH_KEY: 'own',
        });
        expect(code, stderr).toBe(0);
        expect(stdout).toContain('GPU 0: NVIDIA RTX 4090');
        expect(await readFile(join(computer.home, 'model.bin'), 'utf8')).toBe('made\n');
        expect(await statuses()).toEqual({ 'job-N': ENDED });
      },
    );

    test('terminates the instance if the command fails, and exits with its code', async () => {
      await standIn('ssh', 'exit 42');
      const { code } = await run(job(), ['false', 'model.bin']);
      expect(code).toBe(42);
      expect(await statuses()).toEqual({ 'job-N': ENDED });
    });

    test('terminates the instance if the service fails to provision it', async () => {
      await gpucloud('sandbox', 'fault', 'fail-provisioning');
      const { code, stderr } = await run(job(), ['true', 'model.bin']);
      expect(code, stderr).toBe(12);
      expect(await statuses()).toEqual({ 'job-N': ENDED });
    });

    test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
      "terminates the script's instance on %s",
      async (signal) => {
        // In a terminal, Ctrl-C would signal ssh too. This ssh only sleeps.
        await standIn('ssh', 'exec sleep 2');
        const child = await start(job(), ['sleep', 'model.bin']);
        const ended = outcomeOf(child);
        await expect
          .poll(() => callsOf('ssh').catch(() => []), { timeout: 20_000 })
          .not.toEqual([]);
        child.kill(signal);
        await ended;
        expect(await statuses()).toEqual({ 'job-N': ENDED });
      },
    );

    test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
      'terminates the instance if %s comes while it is created',
      async (signal) => {
        const respond = await holdCreate();
        const child = await start(job(), ['true', 'model.bin']);
        const ended = outcomeOf(child);
        await expect.poll(respond.isSent, { timeout: 20_000 }).toBe(true);
        child.kill(signal);
        await respond.now();
        expect((await ended).code).toBe(1);
        expect(await statuses()).toEqual({ 'job-N': ENDED });
      },
    );
  });

  describe('rent from Python', needs('python3'), () => {
    const startJob = (...argv: string[]) => {
      const { text } = SNIPPETS.find(({ language }) => language === 'python') ?? { text: '' };
      return start(text, argv, {}, 'python3');
    };

    test("prints the address, terminates, and exits with the command's code", async () => {
      await standIn('ssh', 'exit 42');
      const { code, stdout, stderr } = await outcomeOf(await startJob('make', 'all'));
      expect({ code, stdout }, stderr).toEqual({
        code: 42,
        stdout: expect.stringMatching(/^address: 203\.0\.113\.\d+\n$/),
      });
      expect((await callsOf('ssh')).at(-1)).toMatch(/\|make\|all\|$/);
      expect(await statuses()).toEqual({ 'py-N': ENDED });
    });

    test('exits with the code of gpucloud if it fails, and terminates', async () => {
      await gpucloud('sandbox', 'fault', 'fail-provisioning');
      const { code, stderr } = await outcomeOf(await startJob('true'));
      expect(code, stderr).toBe(12);
      expect(stderr).toContain('{"error":');
      expect(await statuses()).toEqual({ 'py-N': ENDED });
    });

    test.each([
      ['SIGTERM', 143],
      ['SIGINT', 130],
      ['SIGHUP', 129],
    ] as const)('terminates on %s', async (signal, exit) => {
      // Without the test's pipes, which would stay open until it ends.
      await standIn('ssh', 'exec sleep 20 > /dev/null 2>&1');
      const child = await startJob('sleep');
      const ended = outcomeOf(child);
      await expect.poll(() => callsOf('ssh').catch(() => []), { timeout: 20_000 }).not.toEqual([]);
      child.kill(signal);
      expect((await ended).code).toBe(exit);
      expect(await statuses()).toEqual({ 'py-N': ENDED });
    });

    test('terminates the instance if Ctrl-C comes while it is created', async () => {
      const respond = await holdCreate();
      const child = await startJob('true');
      const ended = outcomeOf(child);
      await expect.poll(respond.isSent, { timeout: 20_000 }).toBe(true);
      process.kill(-(child.pid ?? 0), 'SIGINT');
      await respond.now();
      const { code, stderr } = await ended;
      expect({ code, stderr }).toEqual({ code: 130, stderr: expect.not.stringContaining('error') });
      expect(await statuses()).toEqual({ 'py-N': ENDED });
    });
  });

  describe('rent without renting twice', () => {
    const once = () => first(bash('Rent each name only once'));
    const key = { id: '0a000000-0000-4000-8000-000000000001', name: 'laptop' };
    const id = '3f0c5d9e-1111-4222-8333-444455556666';

    /**
     * Starts a service that creates an instance and loses the first response. A drive may name the
     * instance.
     */
    async function losing(isAttached: boolean) {
      const names: string[] = [];
      let created_at = '';
      let count = 0;
      const service = await startService(({ method, path, body }) => {
        if (path === '/ssh-keys') return ok([key]);
        if (path === '/users/me') return ok({ id: 'user-1' });
        if (path === '/storage/drives') {
          return ok(isAttached ? [{ id: 'd1', name: 'data', current_instance_id: id }] : []);
        }
        const instance = { id, name: 'box', status: 'PROVISIONING', created_at };
        if (method !== 'POST') return ok(instance);
        count += 1;
        const name = String((body as { instance_name?: string }).instance_name);
        names.push(name);
        created_at = new Date().toISOString();
        return count === 1 ? 'hangUp' : ok({ ...instance, created_at }, 201);
      });
      const more = {
        GPUCLOUD_PROFILE: undefined,
        GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
        GPUCLOUD_BASE_URL: service.url,
        OFFER: '0b000000-0000-4000-8000-000000000001',
        IMAGE: '0c000000-0000-4000-8000-000000000001',
      };
      return { service, names, more };
    }

    test('exits with 7 and suggests an attached instance with the same name', async () => {
      const { service, names, more } = await losing(true);
      const { code, stdout, stderr } = await run(once(), ['box'], more);
      await service.close();
      expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
      expect(stderr).toContain(`if ${id} is the instance: gpucloud instances recover box --yes;`);
      expect(names).toEqual(['box']);
    });

    test('exits with 7 while the outcome is unknown, and never rents a second instance', async () => {
      const { service, names, more } = await losing(false);
      const lost = await run(once(), ['box'], more);
      const again = await run(once(), ['box'], more);
      await service.close();
      expect([lost.code, again.code], again.stderr).toEqual([7, 7]);
      expect(names).toEqual(['box']);
    });
  });

  describe('handle failures', () => {
    const startIt = () => first(bash('Handle failures'));

    test('starts a stopped instance in start-when-funded', async () => {
      await rent('trainer');
      await gpucloud('instances', 'stop', 'trainer', '--wait');
      expect(await run(startIt(), ['trainer'])).toEqual({ code: 0, stdout: '', stderr: '' });
    });

    test('prints the error and the balance if the start is refused', async () => {
      await rent('trainer');
      const { code, stdout, stderr } = await run(startIt(), ['trainer']);
      expect({ code, stderr }).toEqual({ code: 5, stderr: '' });
      expect(stdout).toMatch(/^wrong_state: .+\n[\d.]+\n$/);
    });

    test("exits with 75 if the service can't be reached", async () => {
      const { code, stdout } = await run(startIt(), ['3f0c5c1e-8a51-4e0b-9c39-1f6f6a2b7d10'], {
        GPUCLOUD_PROFILE: '',
        GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
        GPUCLOUD_BASE_URL: 'http://127.0.0.1:9',
      });
      expect(stdout).toMatch(/^unreachable: /);
      expect(code).toBe(75);
    });
  });

  test('stops and terminates instances from piped lists', async () => {
    const [pipes = '', forms = '', ...others] = bash('Pipe lists');
    expect(others).toEqual([]);
    await rent('job-one');
    await rent('keeper');
    const shown = await run(forms);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toContain('ACTIVE: job-one\n');
    expect(shown.stdout).toContain('"price": "89.90"');
    const csv = await readFile(join(computer.home, 'transactions.csv'), 'utf8');
    expect(csv.split('\n')[0]).toContain('amount');

    const { code, stderr } = await run(pipes);
    expect(code, stderr).toBe(0);
    expect(await statuses()).toEqual({ 'job-one': ENDED, keeper: STOPPED });
    // Also accepts an empty list.
    expect(
      await run(`gpucloud instances list --all -q | head -n 0 | gpucloud instances stop -`),
    ).toMatchObject({ code: 0 });
  });

  test('runs each step of a CI job, and terminates in the last step', async () => {
    const { text } = SNIPPETS.find(({ heading }) => heading === 'Run a CI job') ?? { text: '' };
    const { steps, env } = parse(text).jobs.train as {
      steps: { name: string; if?: string; run: string }[];
      env: { INSTANCE: string };
    };
    const name = env.INSTANCE.replace('${{ github.run_id }}', '77');
    const INSTANCE = name.replace('${{ github.run_attempt }}', '1');
    const runStep = (lines = '') => run(`set -e\n${lines}`, [], { INSTANCE, CI: 'true' });
    for (const step of steps) {
      const { code, stderr } = await runStep(step.run);
      expect(code, `${step.name}: ${stderr}`).toBe(0);
    }
    expect(await statuses()).toEqual({ 'ci-N-1': 'TERMINATED' });
    // The last step also terminates an instance of a cancelled step.
    expect(steps.at(-1)).toMatchObject({ name: 'Terminate', if: 'always()' });
    await rent(INSTANCE);
    expect(await gpucloud('instances', 'list', '-q')).not.toBe('');
    expect(await runStep(steps.at(-1)?.run)).toMatchObject({ code: 0 });
    expect(await gpucloud('instances', 'list', '-q')).toBe('');
  });

  describe('stop idle instances', () => {
    const stopIdle = () => first(bash('Stop idle instances'));

    test('stops the idle instance, but not a busy or unreachable instance', async () => {
      await rent('busy');
      await rent('idle');
      await rent('silent');
      const rows: { name: string; id: string }[] = JSON.parse(
        await gpucloud('instances', 'list', '--json'),
      );
      const idOf = (name: string) => rows.find((row) => row.name === name)?.id;
      await standIn(
        'ssh',
        `case "$*" in
          *${idOf('busy')}*) echo 97 ;;
          *${idOf('idle')}*) echo 3 ;;
          *) exit 255 ;;
        esac`,
      );
      const { code, stdout, stderr } = await run(stopIdle());
      expect(code, stderr).toBe(0);
      expect(stdout).toMatch(/idle +\S+ +STOPPING/);
      const asked = (await callsOf('ssh')).filter((line) => line.includes('nvidia-smi'));
      expect(asked).toHaveLength(3);
      expect(await statuses()).toEqual({ busy: 'ACTIVE', idle: STOPPED, silent: 'ACTIVE' });
    });

    test('exits with 0 and a note if no instance is idle', async () => {
      expect(await run(stopIdle())).toEqual({
        code: 0,
        stdout: '',
        stderr: expect.stringContaining('No names on stdin.'),
      });
    });
  });

  test('runs the free test in the sandbox', async () => {
    const { code, stdout, stderr } = await run(first(bash('Test scripts in the sandbox')));
    expect(code, stderr).toBe(0);
    expect(stdout.match(/Charged 89\.90/g)?.length).toBeGreaterThan(3);
    expect(await statuses()).toHaveProperty('night-run');
  });
});
