import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CuttingProxy, NO_FAULT, startProxy } from '../faults/proxy.ts';
import { type Computer, createComputer, heard, outcomeOf } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';

/** The sandbox charges 89.90 for this offer. */
const LIMIT = ['--max-price', '50'];
const OVER_LIMIT = 'costs 89.90 ₽ per hour, over --max-price 50.00';

let computer: Computer;
let server: ChildProcessWithoutNullStreams;
let proxy: CuttingProxy;
let env: Record<string, string>;
let create: readonly string[];

beforeEach(async () => {
  computer = await createComputer();
  server = computer.start(['sandbox', 'serve', '--port', '0', '--json']);
  const { url, api_key } = JSON.parse(await heard(server, 'stdout', /\n/));
  proxy = await startProxy(url);
  env = { GPUCLOUD_BASE_URL: proxy.url, GPUCLOUD_API_KEY: api_key };
  const drive = await gpucloud('drives', 'create', 'data', '--size', '5', '-q');
  expect(drive).toMatchObject({ code: 0 });
  create = ['instances', 'create', 'dup-1', ...HARDWARE, '--drive', drive.stdout.trim()];
});
afterEach(async () => {
  const ended = outcomeOf(server);
  server.kill('SIGTERM');
  await ended;
  await proxy.close();
  await computer.remove();
});

const gpucloud = (...argv: string[]) => computer.gpucloud(argv, { env });

/** Lets the service create the instance, and drops the response. */
async function lose(argv: readonly string[]): Promise<void> {
  await proxy.arm({ name: 'cut: acted', cut: 'acted' });
  expect(await gpucloud(...argv)).toMatchObject({ code: 7 });
  await proxy.arm(NO_FAULT);
}

async function rented() {
  const { stdout } = await computer.gpucloud(['sandbox', 'status', '--json']);
  return JSON.parse(stdout).instances as { id: string; name: string; status: string }[];
}

describe('an instance above --max-price whose response was lost', () => {
  test('reports an instance above --max-price in recover, and resolves its request', async () => {
    await lose([...create, ...LIMIT]);
    await lose([...create, '-y']);
    const [instance] = await rented();
    const argv = ['instances', 'recover', 'dup-1', '--json'];
    const both = JSON.parse((await gpucloud(...argv)).stdout);
    expect(both).toMatchObject([
      { outcome: 'unknown', candidates: [{ id: instance?.id }] },
      { outcome: 'unknown', candidates: [{ id: instance?.id }] },
    ]);
    expect(await gpucloud('instances', 'untrack', both[1].uid, '--yes')).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await gpucloud(...argv, '--yes');
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'dup-1', outcome: 'rented', id: instance?.id },
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain(OVER_LIMIT);
    expect(stderr).toContain('gpucloud instances terminate dup-1');
    expect((await rented()).map(({ status }) => status)).not.toContain('TERMINATING');
  });

  test('reports an instance above --max-price also in track', async () => {
    await lose([...create, ...LIMIT]);
    const [instance] = await rented();
    const { code, stderr } = await gpucloud('instances', 'track', instance?.id ?? '', '--yes');
    expect(code).toBe(0);
    expect(stderr).toContain(`Resolved the request for dup-1: it created ${instance?.id}.`);
    expect(stderr).toContain(`${OVER_LIMIT}. It may still be billing.`);
  });
});
