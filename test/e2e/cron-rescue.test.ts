import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createJobWorld, IMAGE, KEY_ID, OFFER } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { createComputer } from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';
import { CRON, login, withCron } from './own-cron.ts';

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
    const computer = await createComputer();
    const world = await createJobWorld();
    const { service, keys, renting, clientKey, there } = world;
    await login(computer, service.url, world.env.GPUCLOUD_API_KEY ?? '');
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
    const ended = withCron(computer, RENT_WITH_RESCUE);
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
