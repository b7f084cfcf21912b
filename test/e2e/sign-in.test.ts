import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import {
  box,
  createSshSite,
  createSshWorld,
  ID,
  type SshSite,
  type SshWorld,
} from '../support/ssh-world.ts';
import { makeKey } from '../support/sshd.ts';

/** An SSH agent that holds keys. */
interface Agent {
  readonly env: Readonly<Record<string, string>>;
  add(...files: string[]): void;
  remove(file: string): void;
  stop(): void;
}

function startAgent(): Agent {
  const said = execFileSync('ssh-agent', ['-s'], { encoding: 'utf8' });
  const [, socket = ''] = /SSH_AUTH_SOCK=([^;]+)/.exec(said) ?? [];
  const [, pid = ''] = /SSH_AGENT_PID=(\d+)/.exec(said) ?? [];
  const env = { SSH_AUTH_SOCK: socket };
  const change = (...words: string[]) =>
    execFileSync('ssh-add', words, { env: { ...process.env, ...env }, stdio: 'ignore' });
  return {
    env,
    add: (...files) => void change('-q', ...files),
    remove: (file) => void change('-q', '-d', file),
    stop: () => process.kill(Number(pid)),
  };
}

/** Puts a key pair into ~/.ssh of the computer. */
function keep(home: string, key: string): string {
  const file = join(home, '.ssh', 'gpu_key');
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
  copyFileSync(key, file);
  copyFileSync(`${key}.pub`, `${file}.pub`);
  return file;
}

const NO_CONFIG = '--ssh-arg=-F/dev/null';

describe('the key of an instance', needs('ssh'), () => {
  let site: SshSite;
  let world: SshWorld;
  let agent: Agent;
  let file: string;
  beforeAll(async () => {
    site = await createSshSite();
    agent = startAgent();
    agent.add(...[1, 2, 3, 4, 5, 6, 7, 8].map((at) => makeKey(site.folder, `other-${at}`)));
  });
  afterAll(async () => {
    agent.stop();
    await site.close();
  });
  beforeEach(async () => {
    world = await createSshWorld(site);
    file = keep(world.computer.home, site.clientKey);
    const public_key = readFileSync(`${file}.pub`, 'utf8').trim();
    const ssh_keys = [{ id: 'k1', name: 'laptop', public_key }];
    world.service.instances.set(ID, box(site.sshd.port, { ssh_keys }));
  });

  const env = () => ({ ...world.service.env, ...agent.env });
  const gpucloud = (...argv: string[]) => world.computer.gpucloud(argv, { env: env() });

  test('enters with ssh and scp, although the agent holds eight other keys', async () => {
    const ran = await gpucloud('instances', 'ssh', ID, NO_CONFIG, '--', 'echo', 'in');
    expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: 'in\n' });
    const target = join(world.computer.home, 'copied');
    const copied = await gpucloud('instances', 'scp', NO_CONFIG, `${ID}:${file}.pub`, target);
    expect(copied, copied.stderr).toMatchObject({ code: 0 });
    expect(readFileSync(target, 'utf8')).toBe(readFileSync(`${file}.pub`, 'utf8'));
  });

  test('may be only in the agent, beside eight other keys', async () => {
    for (const path of [file, `${file}.pub`]) rmSync(path);
    agent.add(site.clientKey);
    const ran = await gpucloud('instances', 'ssh', ID, NO_CONFIG, '--', 'echo', 'in');
    expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: 'in\n' });
    agent.remove(site.clientKey);
  });

  test.each([
    ['ssh-config', ['ssh-config']],
    ['inventory', ['inventory', '--format', 'ssh-config']],
  ])('is written by %s, so that plain ssh enters', async (_what, words) => {
    const { code, stdout, stderr } = await gpucloud('instances', ...words);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`IdentityFile ${file}\n  IdentitiesOnly yes`);
    const config = join(world.computer.home, 'ssh_config');
    writeFileSync(config, stdout, { mode: 0o600 });
    const entered = execFileSync('ssh', ['-F', config, 'gpucloud-box', 'echo in'], {
      env: { ...process.env, ...env() },
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
    });
    expect(entered).toBe('in\n');
  });
});

describe('the key of a detached job', needs('ssh'), () => {
  let world: JobWorld;
  let agent: Agent;
  beforeEach(async () => {
    world = await createJobWorld();
    agent = startAgent();
    agent.add(world.clientKey);
    const [key] = world.keys;
    if (key !== undefined) key.public_key = readFileSync(`${world.clientKey}.pub`, 'utf8').trim();
  });
  afterEach(async () => {
    agent.stop();
  });

  const words = (...more: string[]) =>
    world.words(...more).filter((word, at, all) => ![word, all[at - 1]].includes('--identity'));
  const run = (more: readonly string[], ...command: string[]) =>
    world.computer.gpucloud([...words(...more), '--', ...command], {
      env: { ...world.env, ...agent.env },
    });

  test('is the file, although the agent holds it too, so that reap can use it', async () => {
    const file = keep(world.computer.home, world.clientKey);
    const started = await run(
      ['--detach', '--unenforced', '--fetch', 'x'],
      'sh',
      '-c',
      'echo 1 >x',
    );
    expect(started, started.stderr).toMatchObject({ code: 0 });
    const jobs = join(world.computer.home, 'state', 'jobs');
    const [job = ''] = readdirSync(jobs).filter((name) => name.endsWith('.json'));
    expect(JSON.parse(readFileSync(join(jobs, job), 'utf8'))).toMatchObject({ identity: file });
    let rows: unknown[] = [];
    for (let pass = 0; pass < 20 && rows.length === 0; pass += 1) {
      const reaped = await world.computer.gpucloud(['instances', 'reap', '--json'], {
        env: world.env,
      });
      rows = JSON.parse(reaped.stdout);
    }
    expect(rows).toMatchObject([{ outcome: 'terminated', reason: 'job' }]);
    expect(readFileSync(join(world.computer.home, 'x'), 'utf8')).toBe('1\n');
  });
});
