import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TaskMeta, TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** The requirement that this computer lacks, if the test is skipped. */
    lacks?: string;
  }
}

const FOLDERS = [
  ...(process.env.PATH ?? '').split(delimiter),
  '/usr/sbin',
  '/usr/local/sbin',
  '/sbin',
];

/** Returns the path of a program; also searches administrators' folders. */
export function programAt(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

function works(command: string, argv: readonly string[]): boolean {
  return spawnSync(command, argv, { stdio: 'ignore' }).status === 0;
}

function mountsDisks(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'gpucloud-mount-'));
  try {
    return works('mount', ['-t', 'tmpfs', 'tmpfs', folder]) && works('umount', [folder]);
  } finally {
    rmdirSync(folder);
  }
}

const isRoot = process.geteuid?.() === 0;
const SHELL_OF_OWN = ['--mount', '--map-root-user', 'sh', '-c', 'mount -t tmpfs t /mnt'];

/** Conditions other than the existence of a program. */
const CHECKS = {
  // Some systems have strace but forbid its use.
  strace: () => works('strace', ['-f', '-qq', '-o', '/dev/null', 'true']),
  script: () => works('script', ['-qec', 'true', '/dev/null']),
  root: () => isRoot,
  'an ordinary user': () => !isRoot,
  'another user': () => isRoot && works('setpriv', ['--reuid=65534', 'true']),
  'the right to mount': mountsDisks,
  'mount namespaces': () => works('unshare', SHELL_OF_OWN),
  Linux: () => process.platform === 'linux',
  POSIX: () => process.platform !== 'win32',
  'no gpucloud from a .deb': () => !works('dpkg', ['-s', 'gpucloud']),
  'bash-completion': () => existsSync('/usr/share/bash-completion/bash_completion'),
  'the npm package': () => process.env.GPUCLOUD_PROGRAM === undefined,
  soak: () => process.env.GPUCLOUD_SOAK !== undefined,
} as const;

const SSH = ['sshd', 'ssh', 'scp', 'ssh-keygen', 'ps'];

type Check = keyof typeof CHECKS;
type Program =
  | 'ansible'
  | 'apt-get'
  | 'awk'
  | 'busybox'
  | 'cron'
  | 'crontab'
  | 'curl'
  | 'dbus-run-session'
  | 'fish'
  | 'git'
  | 'gnome-keyring-daemon'
  | 'groff'
  | 'jq'
  | 'lowntfs-3g'
  | 'mkntfs'
  | 'mpirun'
  | 'parallel'
  | 'prlimit'
  | 'pwsh'
  | 'python3'
  | 'qemu-aarch64'
  | 'rsync'
  | 'ssh-keygen'
  | 'systemd-analyze'
  | 'wget'
  | 'wine'
  | 'zsh';
type Need = 'ssh' | Check | Program | `/${string}`;

const known = new Map<Need, string | undefined>();

/** Returns the name of a missing requirement. Checks each requirement only once. */
function lackOf(need: Need): string | undefined {
  if (!known.has(need)) known.set(need, findLack(need));
  return known.get(need);
}

function findLack(need: Need): string | undefined {
  if (need === 'ssh') {
    const absent = SSH.find((name) => programAt(name) === undefined);
    return absent && `SSH (no ${absent})`;
  }
  const isHere =
    need in CHECKS
      ? CHECKS[need as Check]()
      : need.startsWith('/')
        ? existsSync(need)
        : programAt(need) !== undefined;
  return isHere ? undefined : need;
}

/**
 * Returns options that skip a test or group if this computer lacks a requirement. The run prints
 * the missing requirements at its end.
 */
export function needs(...all: readonly Need[]): TestOptions & { meta?: Partial<TaskMeta> } {
  const lacks = all.map(lackOf).find((lack) => lack !== undefined);
  return lacks === undefined ? {} : { skip: true, meta: { lacks } };
}

/** Returns whether this computer meets a requirement of a part of a test. */
export function has(need: Need): boolean {
  return lackOf(need) === undefined;
}
