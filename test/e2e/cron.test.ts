import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { needs, programAt } from '../support/needs.ts';
import {
  type Computer,
  createComputer,
  heard,
  outcomeOf,
  PROGRAM,
  RUNNER,
} from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';

let computer: Computer;
beforeEach(async () => {
  computer = await createComputer();
});

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

/** Rents an instance that only cron can terminate. */
const RENT_AND_WAIT = `
gpucloud instances reap --install --every 1m --json
gpucloud instances create trainer ${HARDWARE.join(' ')} --terminate-after 30m --json
gpucloud sandbox advance 40m --state "$STATE_FILE" --json
for second in $(seq 150); do
  status=$(gpucloud instances list --all --json --query '[0].status')
  case $status in *TERMINAT*) break ;; esac
  sleep 1
done
echo "{\\"ended\\": $status}"
gpucloud instances reap --uninstall --json
echo "{\\"left\\": $(crontab -l | wc -l)}"
`;

test('terminates an instance at its deadline through cron', {
  timeout: 420_000,
  ...needs('root', 'mount namespaces', 'cron', 'crontab'),
}, async () => {
  const bin = join(computer.home, 'bin');
  const file = join(computer.home, 'service.json');
  mkdirSync(bin);
  // Hides systemd: its timer would outlive the test, and gpucloud prefers it to cron.
  writeFileSync(join(bin, 'systemctl'), '#!/bin/sh\nexit 1\n');
  chmodSync(join(bin, 'systemctl'), 0o755);
  const service = computer.start(['sandbox', 'serve', '--port', '0', '--state', file, '--json']);
  try {
    const line = await heard(service, 'stdout', /\n/);
    const { url, api_key } = JSON.parse(line) as { url: string; api_key: string };
    const login = [
      ...['login', '--profile', 'work', '--base-url', url, '--key-stdin', '--store', 'file'],
    ];
    const signedIn = await computer.gpucloud(login, { stdin: `${api_key}\n` });
    expect(signedIn.code, signedIn.stderr).toBe(0);
    const env = {
      ...computer.env,
      PATH: `${bin}:${computer.env.PATH}`,
      CRON: programAt('cron') ?? '',
      RUNNER,
      PROGRAM,
      STATE_FILE: file,
    };
    const words = ['--mount', 'bash', '-c', WITH_CRON + RENT_AND_WAIT];
    const { code, stdout, stderr } = await outcomeOf(spawn('unshare', words, { env }));
    expect(code, stderr).toBe(0);
    const printed = stdout
      .trim()
      .split(/\n(?=\{)/)
      .map((text) => JSON.parse(text));
    expect(printed).toMatchObject([
      { armed: true, scheduler: 'crontab', every_seconds: 60 },
      { name: 'trainer' },
      {},
      { ended: expect.stringMatching(/^TERMINAT/) },
      { armed: false, scheduler: null },
      { left: 0 },
    ]);
  } finally {
    service.kill();
    await once(service, 'exit');
  }
});
