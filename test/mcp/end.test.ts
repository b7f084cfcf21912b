import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { createSandboxWorld, type SandboxWorld } from '../support/run-cli.ts';
import { HARDWARE, IMAGE, OFFER } from '../support/sandbox-ids.ts';
import type { Handler } from '../support/service.ts';
import { type Agent, budget, openAgent, statusesIn, waitingClock } from './agent.ts';

let world: SandboxWorld;
let change: (handler: Handler) => Handler;
beforeEach(async () => {
  change = (handler) => handler;
  world = await createSandboxWorld(
    (handler) => (request) => change(handler)(request),
    waitingClock(),
  );
  // The catalog learns prices from instances.
  await world.cli(['instances', 'create', 'first', ...HARDWARE]);
});
afterEach(() => world.close());

/** For slow computers. */
const SLOWLY = { timeout: 20_000 };

function create(agent: Agent) {
  const given = { name: 'one', offer: [OFFER], image: IMAGE, terminate_after: '50m' };
  return agent.call('instances_create', given);
}

test('ends its instances, then exits with 9, if the jobs can not be read', async () => {
  const agent = await openAgent(world, ['--allow', 'all', ...budget(200)]);
  expect(await create(agent)).toMatchObject({ isError: false });
  const jobs = join(world.home, 'state', 'jobs');
  await writeFile(jobs, 'no folder');
  const { code, stderr } = await agent.end();
  expect({ code, error: stderr.split('\n').at(-3) }).toEqual({
    ...{ code: 9, error: 'error: Could not read the job: jobs (ENOTDIR).' },
  });
  await rm(jobs);
  expect(await statusesIn(world)).toMatchObject({ one: 'TERMINATING' });
});

test('reports what may be billing if the journal can not be read at the end', async () => {
  const agent = await openAgent(world, ['--allow', 'all', ...budget(200)]);
  await create(agent);
  const journal = join(world.home, 'state', 'journal');
  await rename(journal, `${journal}-moved`);
  await writeFile(journal, 'no folder');
  const { code, stderr } = await agent.end();
  expect({ code, error: stderr.split('\n').at(-3) }).toEqual({
    code: 9,
    error: expect.stringMatching(
      /^error: What the session rented may still be billing\. Could not read the list of rented instances: ENOTDIR: /,
    ),
  });
  await rm(journal);
  await rename(`${journal}-moved`, journal);
  expect(await statusesIn(world)).toMatchObject({ one: 'PROVISIONING' });
});

test('tries a termination again after the third signal, and reports it after the fourth', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const leaving = new Set<() => void>();
  const agent = await openAgent(world, ['--allow', 'all', ...budget(1000)], {
    interrupts: { first: first.signal, second: second.signal },
    onThirdInterrupt(leave) {
      leaving.add(leave);
      return () => void leaving.delete(leave);
    },
  });
  const { purse } = await create(agent);
  let respond = () => {};
  const responding = new Promise<void>((resolve) => {
    respond = resolve;
  });
  change = (handler) => async (request) => {
    if (request.path.endsWith('/terminate')) await responding;
    return handler(request);
  };
  const press = () => {
    for (const leave of leaving) leave();
  };
  for (const each of [first, second]) each.abort(new CliError('terminated', 'Terminated.'));
  const sent = () => world.service.requests.filter(({ path }) => path.endsWith('/terminate'));
  await expect.poll(() => sent().length, SLOWLY).toBe(1);
  press();
  await expect.poll(() => sent().length, SLOWLY).toBe(2);
  press();
  const { code, stderr } = await agent.ended;
  expect({ code, error: stderr.split('\n').at(-3) }).toEqual({
    code: 7,
    error: `error: Could not terminate one (${purse?.instances[0]?.id}): Interrupted. It may still be billing.`,
  });
  respond();
  await expect.poll(async () => (await statusesIn(world)).one, SLOWLY).toBe('TERMINATING');
});
