import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { NEW } from '../../support/renting-service.ts';
import { makeKey } from '../../support/sshd.ts';
import { IMAGE, KEY_ID, OFFER } from '../job-world.ts';
import type { LoopbackWorld } from '../loopback-world.ts';

let pair: readonly [string, string] | undefined;

/** Adds a key of this computer to the account, the same in all tests. */
export function addKey(home: string): { id: string; name: string; public_key: string } {
  const key = join(home, '.ssh', 'id_ed25519');
  mkdirSync(dirname(key), { recursive: true });
  if (pair === undefined) makeKey(dirname(key), 'id_ed25519');
  pair ??= [readFileSync(key, 'utf8'), readFileSync(`${key}.pub`, 'utf8')];
  const [secret, shown] = pair;
  writeFileSync(key, secret, { mode: 0o600 });
  writeFileSync(`${key}.pub`, shown);
  return { id: KEY_ID, name: 'laptop', public_key: shown };
}

export const CREATE_BOX = [
  ...['instances', 'create', 'box', '--offer', OFFER, '--image', IMAGE],
  ...['--ssh-key', KEY_ID, '--unenforced'],
];

/** Rents an instance without a job, which ends in an hour and has the file out/a. */
export async function createBox(
  world: LoopbackWorld,
  rescue?: string,
  ...flags: string[]
): Promise<void> {
  const own = addKey(world.local('.'));
  world.renting.sshKeys = [own];
  const more = rescue === undefined ? [] : ['--rescue', `${rescue}:${world.local('got')}`];
  const words = [...CREATE_BOX, '--terminate-after', '1h', ...more, ...flags];
  const { code, stderr } = await world.gpucloud(words);
  expect(code, stderr).toBe(0);
  Object.assign(world.renting.instances.get(NEW) ?? {}, { ssh_keys: [own] });
  mkdirSync(join(world.there(NEW), 'out'), { recursive: true });
  writeFileSync(join(world.there(NEW), 'out', 'a'), 'result\n');
}
