import { readFileSync, statSync } from 'node:fs';
import { appendFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { knownHostsFile, storeHostKey } from '../../src/ssh/known-hosts.ts';
import { temporaryFolder } from '../support/afterwards.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
/** The same name as ssh stores it with `HashKnownHosts yes`. */
const HASHED = '|1|zcQOm/jLfC+J+8x/WH+QSL6wgPw=|5Pc/Y7fqYuKls62AvQCq+2+o134=';

let folder: string;
let knownHosts: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  knownHosts = join(folder, 'known_hosts');
  await writeFile(knownHosts, '');
});

/** Signs in like ssh, which stores the key even if the instance then refuses the user. */
function signIn(key: string, isTrusted: boolean) {
  return storeHostKey(ID, { knownHosts, options: [], words: [] }, async (how) => {
    const isOwn = how.knownHosts === knownHosts;
    if (!isOwn) await appendFile(how.knownHosts, `${ID} ssh-ed25519 ${key}\n`);
    return { result: isOwn, isTrusted };
  });
}

test('stores the host key of the first sign-in that succeeds', async () => {
  expect(await signIn('first', false)).toBe(false);
  expect(readFileSync(knownHosts, 'utf8')).toBe('');
  expect(await signIn('second', true)).toBe(false);
  expect(readFileSync(knownHosts, 'utf8')).toBe(`${ID} ssh-ed25519 second\n`);
  expect(await signIn('third', true)).toBe(true);
  expect(readFileSync(knownHosts, 'utf8')).toBe(`${ID} ssh-ed25519 second\n`);
  expect(await readdir(folder)).toEqual(['known_hosts']);
});

test.each([
  [`${ID} ssh-ed25519 AAAA\n`, true],
  [`other,${ID} ssh-ed25519 AAAA\n`, true],
  [`other ssh-ed25519 AAAA\n`, false],
  [`${HASHED} ssh-ed25519 AAAA\n`, true],
  [`${HASHED.replace('5', '6')} ssh-ed25519 AAAA\n`, false],
  [`x${HASHED} ssh-ed25519 AAAA\n`, false],
  [`${HASHED}|x ssh-ed25519 AAAA\n`, false],
])('finds a stored key in %j: %s', async (text, isStored) => {
  await writeFile(knownHosts, text);
  expect(await signIn('key', true)).toBe(isStored);
});

test('names the file that could not be changed, and does not sign in if it is unreadable', async () => {
  const how = { knownHosts, options: [], words: [] };
  const spoil = async () => {
    await rm(knownHosts);
    await mkdir(knownHosts);
    return { result: 1, isTrusted: true };
  };
  await expect(storeHostKey(ID, how, spoil)).rejects.toMatchObject({
    failure: 'storage',
    message: `Could not store the host key in ${knownHosts} (EISDIR).`,
  });
  await expect(storeHostKey(ID, how, spoil)).rejects.toMatchObject({ code: 'EISDIR' });
});

test('removes its own file if the sign-in throws', async () => {
  const thrown = new Error('stopped');
  const how = { knownHosts, options: [], words: [] };
  await expect(storeHostKey(ID, how, () => Promise.reject(thrown))).rejects.toBe(thrown);
  expect(await readdir(folder)).toEqual(['known_hosts']);
});

test('creates its file for this user alone, or names the file and the fault', async () => {
  const context = { folders: async () => ({ state: folder }) } as unknown as Context;
  const path = join(folder, 'ssh', 'known_hosts');
  expect(await knownHostsFile(context)).toBe(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await rm(path);
  await mkdir(path);
  await expect(knownHostsFile(context)).rejects.toMatchObject({
    failure: 'storage',
    message: `Could not create the host key file ${path} (EISDIR).`,
  });
});
