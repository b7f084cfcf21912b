import { afterEach, beforeEach, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { PROGRAM } from '../support/program.ts';
import { NO_FAULT } from './proxy.ts';
import { argvFor, openRig, type Rig, type Row, recordsOn } from './rig.ts';

const CREATE = argvFor('create', 'trainer');

let rig: Rig;
beforeEach(async () => {
  rig = await openRig(PROGRAM);
  await rig.proxy.arm(NO_FAULT);
  // Creates the folders and learns the account, so that only the faults below differ.
  await rig.gpucloud(argvFor('create', 'before'));
  await rig.proxy.arm(NO_FAULT);
});
afterEach(() => rig.close());

/** Makes a system call fail, from its nth use in a thread on. */
const failing = (call: string, error: string, nth: number) => ({
  env: { UV_THREADPOOL_SIZE: '1' },
  prefix: [
    ...['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`],
    ...['-e', `inject=${call}:error=${error}:when=${nth}+`],
  ],
});

async function rows(): Promise<Row[]> {
  const { code, stdout } = await rig.gpucloud(['instances', 'list', '--json']);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

/** Reading a folder fails from some point on, as on a network disk. */
test('leaves no request if a folder becomes unreadable before the request is sent', {
  timeout: 240_000,
  ...needs('strace'),
}, async () => {
  let refused = 0;
  for (let nth = 1; ; nth += 1) {
    await rig.proxy.arm(NO_FAULT);
    const { code, stderr } = await rig.gpucloud(CREATE, failing('getdents64', 'EIO', nth));
    if (rig.proxy.posts > 0) break;
    refused += 1;
    expect({ nth, code, stderr }).toMatchObject({ code: 9 });
    expect(await recordsOn(rig.state)).toEqual([{ name: 'before', kind: 'made' }]);
  }
  // Includes the folder reads before and after the request's file is made.
  expect(refused).toBeGreaterThan(8);
  expect(await rows()).toContainEqual(expect.objectContaining({ name: 'trainer' }));
});

test('leaves no request if its folder cannot be synced', {
  timeout: 240_000,
  ...needs('strace'),
}, async () => {
  for (let nth = 1; ; nth += 1) {
    await rig.proxy.arm(NO_FAULT);
    const { code } = await rig.gpucloud(CREATE, failing('fsync', 'EIO', nth));
    if (rig.proxy.posts > 0) break;
    expect({ nth, code }).toEqual({ nth, code: 9 });
    expect(await recordsOn(rig.state)).toEqual([{ name: 'before', kind: 'made' }]);
  }
});

test('sends one request when several processes create the same name, without hard links', {
  timeout: 120_000,
  ...needs('strace'),
}, async () => {
  const how = failing('link', 'EPERM', 1);
  const ended = await Promise.all(Array.from({ length: 4 }, () => rig.gpucloud(CREATE, how)));
  expect(rig.books.posts('trainer')).toBe(1);
  const codes = ended.map(({ code }) => code ?? -1).sort();
  expect(codes[0]).toBe(0);
  for (const code of codes.slice(1)) expect([5, 7, 9]).toContain(code);
  expect((await rows()).map(({ name }) => name).sort()).toEqual(['before', 'trainer']);
});
