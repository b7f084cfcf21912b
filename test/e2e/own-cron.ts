import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { needs, programAt } from '../support/needs.ts';
import { type Computer, outcomeOf, PROGRAM, RUNNER } from '../support/program.ts';

/**
 * Starts a separate cron daemon with its own crontab folder and /run, then runs the remaining
 * words.
 */
const WITH_CRON = `set -e
mount -t tmpfs tmpfs /var/spool
mkdir -p /var/spool/cron/crontabs
mount -t tmpfs tmpfs /run
[ ! -d /etc/cron.d ] || mount -t tmpfs tmpfs /etc/cron.d
[ ! -f /etc/crontab ] || mount --bind /dev/null /etc/crontab
"$CRON" -f &
trap "kill $!" EXIT
# Cron compares times in whole seconds: a line of the second in which it starts goes unseen.
sleep 2
gpucloud() { "$RUNNER" "$PROGRAM" "$@"; }
`;

/** Logs in with the key of a service, as cron needs it: in a file. */
export async function login(computer: Computer, url: string, apiKey: string): Promise<void> {
  const words = ['login', '--profile', 'work', '--base-url', url, '--key-stdin', '--store', 'file'];
  const signedIn = await computer.gpucloud(words, { stdin: `${apiKey}\n` });
  expect(signedIn.code, signedIn.stderr).toBe(0);
}

/** Runs a script with its own cron, and without systemd. */
export function withCron(
  computer: Computer,
  script: string,
  more: Readonly<Record<string, string>> = {},
) {
  const bin = join(computer.home, 'bin');
  mkdirSync(bin);
  // Hides systemd: its timer would outlive the test, and gpucloud prefers it to cron.
  writeFileSync(join(bin, 'systemctl'), '#!/bin/sh\nexit 1\n');
  chmodSync(join(bin, 'systemctl'), 0o755);
  const env = {
    ...computer.env,
    PATH: `${bin}:${computer.env.PATH}`,
    CRON: programAt('cron') ?? '',
    RUNNER,
    PROGRAM,
    ...more,
  };
  const words = ['--mount', 'bash', '-c', WITH_CRON + script];
  return outcomeOf(spawn('unshare', words, { env }));
}

export const CRON = { timeout: 420_000, ...needs('root', 'mount namespaces', 'cron', 'crontab') };
