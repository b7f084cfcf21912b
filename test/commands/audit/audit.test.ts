import { beforeEach, describe, expect, test } from 'vitest';
import { createSandboxWorld, type SandboxWorld } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { errorOf } from '../../support/stderr-lines.ts';

const HOUR = 3_600_000;

interface Row {
  readonly check: string;
  readonly result: string;
  readonly message: string;
  readonly evidence: readonly string[];
  readonly per_hour: string | null;
  readonly command: string | null;
}

let world: SandboxWorld;
beforeEach(async () => {
  world = await createSandboxWorld();
});

async function run(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await world.cli(argv);
  expect(code, stderr).toBe(0);
  return stdout;
}

async function rent(...names: string[]): Promise<void> {
  for (const name of names) await run('instances', 'create', name, ...HARDWARE);
  await world.sandbox.advance(3000);
}

async function audit(...flags: string[]) {
  const { code, stdout, stderr, requests } = await world.cli(['audit', '--json', ...flags]);
  const rows = JSON.parse(stdout) as Row[];
  const row = (check: string) => rows.find((one) => one.check === check);
  const results = Object.fromEntries(rows.map(({ check, result }) => [check, result]));
  return { code, stderr, requests, rows, row, results };
}

const found = async (...flags: string[]) =>
  (await audit(...flags)).rows.filter(({ result }) => result !== 'ok');

const FOUR = ['box-1', 'box-2', 'box-3', 'box-4'] as const;

describe('audit of four known instances', () => {
  test('passes every check of an account with four known instances', async () => {
    await rent(...FOUR);
    const { code, stderr, results } = await audit('--exact');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(results).toEqual({
      open_requests: 'ok',
      rented_elsewhere: 'ok',
      running_long: 'ok',
      ended_but_charged: 'ok',
      other_api_keys: 'ok',
      unexplained_charges: 'ok',
      reserved_balance: 'ok',
    });
  });

  test('determines the hourly price of an unknown fifth instance with --exact', async () => {
    await rent(...FOUR);
    await world.sandbox.rogue('rogue');
    const { code, stderr, row, results, requests } = await audit('--exact');
    expect(code).toBe(5);
    expect(errorOf(stderr)).toMatchObject({ code: 'finding', may_be_billing: true });
    expect(Object.values(results).filter((result) => result !== 'ok')).toEqual(['finding']);
    expect(row('reserved_balance')).toEqual({
      check: 'reserved_balance',
      result: 'finding',
      message:
        'The service holds 449.50 ₽ for instances. The known running instances cost 359.60 ₽ per hour. Unknown instances cost 89.90 ₽ per hour. Look for them in the web console.',
      evidence: expect.arrayContaining([expect.stringMatching(/^box-1 \(.*\), ACTIVE, 89\.90 ₽/)]),
      per_hour: '89.90',
      command: null,
    });
    const patches = requests.filter(({ method }) => method !== 'GET');
    expect(patches).toMatchObject([{ path: '/users/me', body: { name: 'Sandbox User' } }]);
  });

  test('sends only GET requests without --exact', async () => {
    await rent(...FOUR);
    const { requests, results } = await audit();
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(results).not.toHaveProperty('reserved_balance');
  });

  test('finds the charges of an unknown fifth instance without --exact', async () => {
    await rent(...FOUR);
    await world.sandbox.rogue('rogue');
    await world.sandbox.advance(20 * HOUR);
    await world.sandbox.deposit('20000');
    const { code, row } = await audit();
    expect(code).toBe(5);
    expect(row('unexplained_charges')).toMatchObject({
      result: 'finding',
      evidence: expect.arrayContaining(['19 charges of 89.90 ₽: "Rent of instance rogue"']),
      command: 'gpucloud billing transactions --type usage-charge --since 24h',
    });
  });
});

describe('audit', () => {
  async function attach(): Promise<string> {
    const drive = JSON.parse(await run('drives', 'create', 'data', '--size', '10', '--json'));
    const argv = ['instances', 'create', 'theirs', ...HARDWARE, '--drive', drive.id, '-q'];
    const elsewhere = { GPUCLOUD_STATE_DIR: `${world.home}/elsewhere` };
    const { stdout } = await world.cli(argv, { env: elsewhere });
    return stdout.trim();
  }

  test("finds another computer's untracked instance through its drive", async () => {
    const id = await attach();
    const expected = {
      check: 'rented_elsewhere',
      result: 'finding',
      message:
        'A drive is attached to an instance that this computer neither rented nor tracks. Track or terminate the instance.',
      evidence: [`theirs (${id}), PROVISIONING, 89.90 ₽ per hour, attached to drive data`],
      per_hour: '89.90',
      command: `gpucloud instances get ${id}`,
    };
    expect(await found()).toEqual([expected]);
    await run('instances', 'list');
    expect(await found()).toEqual([expected]);
    await run('instances', 'track', id);
    expect(await found()).toEqual([]);
  });

  test("omits another computer's instance after its termination", async () => {
    const id = await attach();
    await world.sandbox.advance(5000);
    await run('instances', 'terminate', id, '--yes');
    expect(await found()).toEqual([]);
    await world.sandbox.advance(10_000);
    expect(await found()).toEqual([]);
  });
});
