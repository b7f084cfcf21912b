import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, IMAGE, KEY_ID, OFFER } from '../jobs/job-world.ts';
import { needs, programAt } from '../support/needs.ts';
import {
  type Computer,
  createComputer,
  heard,
  outcomeOf,
  PROGRAM,
  RUNNER,
} from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';
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

/** Logs in with the key of a service, as cron needs it: in a file. */
async function login(url: string, apiKey: string): Promise<void> {
  const words = ['login', '--profile', 'work', '--base-url', url, '--key-stdin', '--store', 'file'];
  const signedIn = await computer.gpucloud(words, { stdin: `${apiKey}\n` });
  expect(signedIn.code, signedIn.stderr).toBe(0);
}

/** Runs a script with its own cron, and without systemd. */
function withCron(script: string, more: Readonly<Record<string, string>> = {}) {
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

const CRON = { timeout: 420_000, ...needs('root', 'mount namespaces', 'cron', 'crontab') };

test('terminates an instance at its deadline through cron', CRON, async () => {
  const file = join(computer.home, 'service.json');
  const service = computer.start(['sandbox', 'serve', '--port', '0', '--state', file, '--json']);
  try {
    const line = await heard(service, 'stdout', /\n/);
    const { url, api_key } = JSON.parse(line) as { url: string; api_key: string };
    await login(url, api_key);
    const { code, stdout, stderr } = await withCron(RENT_AND_WAIT, { STATE_FILE: file });
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

/** Rents an instance, and waits until cron has terminated it. Cron sets its own HOME. */
const RENT_WITH_RESCUE = `
gpucloud instances reap --install --every 1m --json
(echo "HOME=$HOME"; crontab -l) | crontab -
gpucloud instances create box --offer ${OFFER} --image ${IMAGE} --ssh-key ${KEY_ID} --terminate-after 1h --rescue "out:$HOME/got" --json
for second in $(seq 240); do
  status=$(gpucloud instances list --all --json --query '[0].status')
  case $status in *TERMINAT*) break ;; esac
  sleep 1
done
gpucloud instances reap --uninstall --json
`;

describe('with --rescue', needs('ssh'), () => {
  test('copies the files over sshd before cron terminates the instance', CRON, async () => {
    const world = await createJobWorld();
    const { service, keys, renting, clientKey, there } = world;
    await login(service.url, world.env.GPUCLOUD_API_KEY ?? '');
    mkdirSync(join(computer.home, '.ssh'), { mode: 0o700 });
    const own = join(computer.home, '.ssh', 'id_ed25519');
    copyFileSync(clientKey, own);
    copyFileSync(`${clientKey}.pub`, `${own}.pub`);
    const [key] = keys;
    if (key === undefined) throw new Error('the account has a key');
    key.public_key = readFileSync(`${own}.pub`, 'utf8');
    const bytes = randomBytes(20_000_000);
    mkdirSync(join(there, 'out'));
    writeFileSync(join(there, 'out', 'model'), bytes);
    const ended = withCron(RENT_WITH_RESCUE);
    const instance = () => renting.instances.get(NEW);
    await expect.poll(instance, { timeout: 180_000 }).toBeDefined();
    Object.assign(instance() ?? {}, { ssh_keys: [key] });
    world.advance(70 * 60_000);
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(0);
    expect(world.status()).toBe('TERMINATING');
    expect(readFileSync(join(computer.home, 'got', 'model')).equals(bytes)).toBe(true);
    const list = join(computer.home, 'state', 'rescues', `${NEW}.sha256`);
    expect(readFileSync(list, 'utf8')).toBe(
      `${createHash('sha256').update(bytes).digest('hex')}  ${join(computer.home, 'got', 'model')}\n`,
    );
  });
});
