import { cp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { KEYS, type Person, type PersonOptions, sitDown } from '../support/person.ts';
import { type Computer, createComputer } from '../support/program.ts';
import { sshPublicKey } from '../support/ssh-key.ts';

const { enter, down } = KEYS;
export const ED25519 = sshPublicKey('ssh-ed25519');
export const ENV = { GPUCLOUD_PROFILE: 'sandbox' };
export const SANDBOX = { env: ENV };

export let computer: Computer;

/** An account with a key and a drive. Each test copies its state. */
export let account: Computer;

/** Creates a computer for each test, and stops its programs afterwards. */
export function openTable(): void {
  beforeEach(async () => {
    computer = await createComputer();
  });
  beforeAll(async () => {
    account = await createComputer();
    await addKey('laptop', '--default');
    await run(account, 'drives', 'create', 'data', '--size', '500');
  });
  afterAll(() => account.remove());
}

export async function prepared(): Promise<void> {
  const from = join(account.home, 'state');
  const filter = (path: string) => path !== join(from, 'cache');
  await cp(from, join(computer.home, 'state'), { recursive: true, filter });
}

export function person(argv: readonly string[], options: PersonOptions = {}): Person {
  return sitDown(computer, argv, { ...options, env: { ...ENV, ...options.env } });
}

export async function run(on: Computer, ...argv: string[]) {
  const outcome = await on.gpucloud(argv, SANDBOX);
  expect(outcome, argv.join(' ')).toMatchObject({ code: 0 });
  return outcome.stdout;
}

export async function addKey(name: string, ...more: string[]): Promise<void> {
  const file = join(account.home, `${name}.pub`);
  await writeFile(file, `${ED25519} ${name}\n`);
  await run(account, 'ssh-keys', 'add', file, '--name', name, ...more);
}

/** Returns the sandbox's instances, including terminated ones. */
export async function instances(): Promise<{ name: string; status: string }[]> {
  return JSON.parse(await run(computer, 'instances', 'list', '--all', '--json'));
}

/** Returns the paths of the journal's records. */
export async function journal({ home }: Computer): Promise<string[]> {
  const names = await readdir(join(home, 'state'), { recursive: true });
  return names.filter((name) => /journal\/.*(requests|instances)\/.*\.json$/.test(name)).sort();
}

export async function expectNothingSent(one: Person): Promise<void> {
  expect(await one.ended()).toBe(130);
  expect(one.screen()).toContain('Cancelled. Nothing was rented.');
  expect(await journal(computer)).toEqual(await journal(account));
  const { instances } = JSON.parse(await run(computer, 'sandbox', 'status', '--json'));
  expect(instances).toEqual([]);
}

/** The prompts of a rental in order, each with an answer. */
export const QUESTIONS: readonly (readonly [RegExp, string])[] = [
  [/\? Instance name \(.+\) *$/m, `box-one${enter}`],
  [/\? Offer \(the hardware\)[\s\S]*select/, enter],
  [/\? Base image \(the system\)[\s\S]*select/, enter],
  [/\? SSH keys[\s\S]*submit/, enter],
  [/\? Software[\s\S]*select/, `${down}${enter}`],
  [/\? Cloud drive[\s\S]*select/, `${down}${enter}`],
  [/\? Rent it\?[\s\S]*select/, enter],
];
