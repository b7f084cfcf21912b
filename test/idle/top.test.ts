import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { type Answer, no, ok } from '../support/service.ts';
import { PARTS } from './probe-output.ts';
import { type FakeSsh, fakeSsh, realSleeps } from './usage-world.ts';

type Sleep = ReturnType<typeof realSleeps>['sleep'];

/** The time limit for a response, in milliseconds. */
const LIMIT = 5_000;

const idOf = (number: number) =>
  `3f0c5d9e-1111-4222-8333-4444555566${String(number).padStart(2, '0')}`;

let ssh: FakeSsh;
let world: World;
let boxes: Record<string, unknown>[];
let drives: Answer;
let sleep: Sleep;

beforeEach(async () => {
  ssh = fakeSsh();
  boxes = [];
  drives = ok([]);
  const clock = realSleeps();
  sleep = clock.sleep;
  world = await createWorld({
    clock: { ...clock, sleep: (...given) => sleep(...given) },
    handler: ({ path }) => {
      if (path === '/storage/drives') return drives;
      if (path === '/ssh-keys') return ok([]);
      const box = boxes.find(({ id }) => path === `/instances/${id}`);
      return box === undefined ? no(404, 'no') : ok(box);
    },
  });
});
afterEach(async () => {
  await world.close();
  ssh.close();
});

/** Adds an instance with one idle card. Its number is its SSH port. */
function add(number: number, more: object = {}): string {
  ssh.add(number);
  boxes.push({
    id: idOf(number),
    name: `box-${number}`,
    status: 'ACTIVE',
    ip_address: '192.168.5.6',
    ssh_username: 'root',
    ssh_port: number,
    price_per_hour_snapshot: '89.90',
    ssh_keys: [{ id: 'key-1', name: 'laptop' }],
    ...more,
  });
  return idOf(number);
}

const top = (argv: readonly string[], how: object = {}) =>
  world.cli(['instances', 'top', ...argv], { env: ssh.env, ...how });

test('prints both cards of an instance as JSON and CSV', async () => {
  const id = add(1);
  ssh.program(
    1,
    'nvidia-smi',
    `printf '%s\\n' '0, NVIDIA H100 80GB HBM3, 97, 72704, 81920, 64, 612.30' '1, NVIDIA H100 80GB HBM3, 2, [N/A], 81920, 31, [N/A]'
echo '${PARTS.cpu2}' >$GPUCLOUD_PROC/stat`,
  );
  await top([id, '--json']);
  await top([id, '-o', 'csv', '--columns', 'name,index,utilization_percent,price_per_hour']);
  await top([id, '-q']);
  await top([id, '-o', 'id', '--columns', 'index']);
  await top([id, '--json', '--columns', 'index,utilization_percent']);
});

test('draws a table with colours and warnings in a terminal', async () => {
  add(1);
  ssh.program(
    1,
    'nvidia-smi',
    "printf '%s\\n' '0, NVIDIA H100 80GB HBM3, 97, 72704, 81920, 64, 612.30' '1, NVIDIA H100 80GB HBM3, 2, 100, 81920, 31, 70.10'; echo 'cpu  0 0 0 999999' >$GPUCLOUD_PROC/stat",
  );
  add(2, { name: 'lab' });
  ssh.ssh(2, "echo 'root@192.168.5.6: Permission denied (publickey).' >&2; exit 255");
  const argv = [idOf(1), idOf(2)];
  const wide = await top([...argv, '--color', 'always'], { terminal: true, columns: 120 });
  expect(wide.stdout).toMatchInlineSnapshot(`
    "[1mNAME[22m   [1mGPU[22m               [1mLOAD[22m  [1mVRAM[22m      [1mTEMP[22m   [1mPOWER[22m  [1mCPU[22m  [1mRAM[22m      [1mDISK[22m  [1mPER HOUR[22m
    box-1  0 H100 80GB HBM3  [32m97 %[39m  71/80 GB  64 °C  612 W  -    5/63 GB  61 %   89.90 ₽  [32m█████████▊[39m
    box-1  1 H100 80GB HBM3   [33m2 %[39m  0/80 GB   31 °C  70 W                                 [33m▎[39m
    lab    -                    -  -         -      -      -    -        -      89.90 ₽

    - [33mlab refused the keys that ssh tries by default; this computer has no private key for the instance. Its keys: laptop.[39m
    "
  `);
  const narrow = await top([...argv, '--color', 'never'], { terminal: true, columns: 80 });
  expect(narrow.stdout).toMatchInlineSnapshot(`
    "NAME   GPU            LOAD  VRAM      TEMP   POWER  CPU  RAM      DISK  PER HOUR
    box-1  0 H100 80GB …  97 %  71/80 GB  64 °C  612 W  -    5/63 GB  61 %   89.90 ₽
    box-1  1 H100 80GB …   2 %  0/80 GB   31 °C  70 W
    lab    -                 -  -         -      -      -    -        -      89.90 ₽

    - lab refused the keys that ssh tries by default; this computer has no private
      key for the instance. Its keys: laptop.
    "
  `);
  expect({ code: wide.code, stderr: wide.stderr }).toMatchInlineSnapshot(`
    {
      "code": 1,
      "stderr": "",
    }
  `);
});

test('reports the key that an instance refused', async () => {
  const ssh_keys = [{ id: 'key-1', name: 'laptop' }, { id: 'key-2' }];
  const id = add(1, { name: null, ssh_keys });
  const others = [add(2, { ssh_keys: undefined }), add(3, { ssh_keys: [] })];
  for (const port of [1, 2, 3])
    ssh.ssh(port, "echo 'root@192.168.5.6: Permission denied (publickey).' >&2; exit 255");
  await top([id, '--json']);
  for (const other of others) await top([other, '--json']);
  await top([id, '--json', '--identity', '/dev/null']);
});

test.each([
  'Host key verification failed.',
  'ssh: connect to host 192.168.5.6 port 1: Connection refused',
  'Bad configuration option: odd',
  'gpucloud-probe begin',
  '',
])('reports an instance whose ssh fails with %j', async (said) => {
  const id = add(1);
  ssh.ssh(1, `printf %s '${said}'; printf %s '${said}' >&2; exit 255`);
  await top([id, '--json']);
});

test('exits with 10 but prints the other cells of a row if nvidia-smi is missing', async () => {
  const id = add(1);
  ssh.program(1, 'nvidia-smi', 'exit 127');
  ssh.write(1, 'proc/stat', '');
  await top([id, '--json']);
  // The most that a probe may print.
  const other = add(2);
  ssh.ssh(2, 'head -c 65536 /dev/zero; exit 0');
  await top([other, '--json']);
});

test('exits with 5 in top for an instance without SSH, and with 3 for an unknown instance', async () => {
  await top([add(1, { status: 'STOPPED' }), '--json']);
  await top([idOf(2), '--json']);
  await top(['nobody']);
});

test('lists only running instances by default, or suggests instances create', async () => {
  const nothing = await top([], { terminal: true });
  expect({ code: nothing.code, stdout: nothing.stdout }).toEqual({ code: 0, stdout: '' });
  await top(['--json']);
  for (const id of [add(1), add(2, { status: 'STOPPED' })]) {
    await world.cli(['instances', 'track', id]);
  }
  await top(['--json']);
  drives = no(404, 'no drives');
  await top(['--json']);
});

test('names an instance that could not be read in time as it was typed', async () => {
  await world.cli(['instances', 'track', add(1)]);
  const really = sleep;
  sleep = (...given) => (given[0] === LIMIT ? Promise.resolve() : really(...given));
  await top(['box-1', '--json']);
});

test('stops at Ctrl-C without a row', async () => {
  const stop = new AbortController();
  const id = add(1);
  sleep = (_milliseconds, signal) => {
    stop.abort(new CliError('interrupted', 'Interrupted.'));
    return new Promise((_resolve, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason)),
    );
  };
  const interrupts = { first: stop.signal, second: new AbortController().signal };
  await top([id, '--json'], { interrupts });
});

/** Ends the time limit once all instances but one have responded, even on a slow computer. */
function limitOfTheLast(count: number): Sleep {
  const really = sleep;
  let left = count;
  let pass = () => {};
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return (milliseconds, signal) => {
    if (milliseconds !== LIMIT) return really(milliseconds, signal);
    return new Promise((resolve, reject) => {
      void passed.then(resolve);
      signal?.addEventListener('abort', () => {
        left -= 1;
        if (left === 1) pass();
        reject(signal.reason);
      });
    });
  };
}

test('reports instances that hang or flood their output, and reads the other instances', async () => {
  const ids = Array.from({ length: 20 }, (_, at) => add(at + 1, at === 3 ? { name: null } : {}));
  // Ignores SIGTERM, as a stuck ssh may.
  ssh.ssh(4, "trap '' TERM; sleep 30 & wait; sleep 30");
  ssh.ssh(9, 'exec yes');
  sleep = limitOfTheLast(ids.length);
  await top([...ids, '--json']);
});

test.each([
  [1, [], { error: null, name: 'box-1' }],
  [1, ['--query', '{name: name, error: error}'], { error: null, name: 'box-1' }],
  [2, ['--query', '[0].{name: name, error: error}'], { error: null, name: 'box-1' }],
])('prints JSON lines with --watch of %i: %j when not in a terminal', async (count, more, row) => {
  const ids = Array.from({ length: count }, (_, at) => add(at + 1));
  const stop = new AbortController();

  const interrupts = { first: stop.signal, second: new AbortController().signal };
  const really = sleep;
  let sleeps = 0;
  sleep = (...given) => {
    sleeps += 1;
    // The first sleeps are the time limits of the rows, the next one is the pause after them.
    if (sleeps === count + 1) stop.abort(new CliError('interrupted', 'Interrupted.'));
    return really(...given);
  };
  const { code, stdout } = await top([...ids, '--watch', '-o', 'jsonl', ...more], { interrupts });
  expect(code).toBe(130);
  expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject(row);
});
