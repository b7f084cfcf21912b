import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { programAt } from './needs.ts';
import { freePort } from './ports.ts';

export const USER = userInfo().username;

/** Simulates an instance's SSH server on loopback, run by the current user. */
export interface Sshd {
  readonly port: number;
  /** Stops the server and closes its connections. */
  stop(): Promise<void>;
  /** Closes the server's connections without stopping the started programs. */
  cut(): void;
  /** Stalls its connections without closing them, like a network that drops every packet. */
  freeze(): void;
}

export interface SshdOptions {
  readonly folder: string;
  /** Path of the private host key; see {@link makeKey}. */
  readonly hostKey: string;
  /** Path of the accepted public key. */
  readonly clientKey: string;
  /** The port; by default any free port. */
  readonly port?: number;
  /** Home folder for SSH sessions, instead of the user's own. */
  readonly home?: string;
}

/** Creates a key pair and returns the path of its private key. */
export function makeKey(folder: string, name: string): string {
  const path = join(folder, name);
  // By default, the comment is the user and the computer.
  const like = ['-q', '-t', 'ed25519', '-C', 'key', '-N', ''];
  execFileSync(programAt('ssh-keygen') ?? '', [...like, '-f', path]);
  return path;
}

export async function startSshd(options: SshdOptions): Promise<Sshd> {
  const port = options.port ?? (await freePort());
  const own = join(options.folder, `sshd-${port}`);
  await mkdir(own, { recursive: true, mode: 0o700 });
  const config = join(own, 'sshd_config');
  await writeFile(
    config,
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${options.hostKey}`,
      `AuthorizedKeysFile ${options.clientKey}`,
      'PidFile none',
      'UsePAM no',
      'StrictModes no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PermitRootLogin yes',
      // Keeps out the developer's .bashrc and .profile, which may wait for a lock for a minute.
      // bash reads .bashrc over SSH unless another shell started it.
      `SetEnv SHLVL=1 HOME=${own}`,
      'Subsystem sftp internal-sftp',
      ...(options.home === undefined ? [] : [`ForceCommand ${inHome(options.home)}`]),
      '',
    ].join('\n'),
  );
  // A server started by root needs /run/sshd, which Debian's package creates only for the service.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const child = spawn(programAt('sshd') ?? '', ['-D', '-e', '-f', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await answering(port, child, () => said);
  const { pid = 0 } = child;
  return {
    port,
    stop: () => stop(child),
    cut: () => {
      for (const one of childrenOf(pid)) signal(one, 'SIGKILL');
    },
    freeze: () => {
      for (const one of descendants(pid)) signal(one, 'SIGSTOP');
    },
  };
}

/**
 * Keeps sshd's process and session by `exec`. Simulates start files that print a greeting or set
 * the PATH, and another login shell.
 */
function inHome(home: string): string {
  return `cd ${home}; [ ! -f .greeting ] || cat .greeting; [ ! -f .path ] || PATH=$(cat .path); [ -f .shell ] || echo /bin/sh >.shell; HOME=${home} exec $(cat .shell) -c "$SSH_ORIGINAL_COMMAND"`;
}

/** Each connection is a process outside the server's group, so end them one by one. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  for (const pid of [child.pid, ...descendants(child.pid)]) signal(pid, 'SIGKILL');
  await ended;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has already ended.
  }
}

function descendants(root: number): number[] {
  return childrenOf(root).flatMap((child) => [child, ...descendants(child)]);
}

function childrenOf(root: number): number[] {
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  return listed
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child = 0, parent]) => (parent === root ? [child] : []));
}

async function answering(port: number, child: ChildProcess, said: () => string): Promise<void> {
  while (!(await greets(port))) {
    if (child.exitCode !== null) throw new Error(`sshd does not answer: ${said()}`);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
    socket.once('end', () => resolve(false));
  });
}
