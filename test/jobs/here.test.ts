import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { createEmulator } from '../output/emulator.ts';
import { NEW } from '../support/renting-service.ts';
import { no, ok } from '../support/service.ts';
import { until } from '../support/ssh-world.ts';
import { withoutTranscript } from '../support/transcript.ts';
import { ctrlC, heard, notifying, reap } from './stories.ts';
import {
  answerFor,
  ENDED,
  fetching,
  folders,
  gotFrom,
  here,
  isUp,
  LASTS,
  local,
  OTHER,
  report,
  results,
  statuses,
  withTwoInstances,
  world,
} from './two-instances.ts';

withTwoInstances();

describe('gpucloud run --here', () => {
  test("fetches from each instance into NAME/, terminates all and exits with the command's code", async () => {
    await notifying(world);
    const tool = (name: string, text: string) =>
      writeFileSync(world.local(`../bin/${name}`), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    tool('nvidia-smi', 'echo >>calls; echo "50, 1000, 24564"');
    tool('sleep', 'exec /bin/sleep 0.05');
    const isSampled = [NEW, OTHER].map(
      (id) => `$(wc -l <${world.there(id)}/gpucloud-run/calls) -gt 3`,
    );
    const sampled = `until [ ${isSampled.join(' ] && [ ')} ]; do sleep 0.1; done 2>/dev/null`;
    const { code, stderr } = await here(`${sampled}; ${results(NEW, OTHER)}; exit 3`, fetching());
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 3, statuses: ENDED });
    for (const { id, name } of world.renting.instances.values()) {
      expect(local(`got/${name}/result`)).toBe(`${id}\n`);
    }
    const said = stderr
      .replaceAll(world.local('.'), 'HOME')
      .replace(/sh -c '[^…\n]*…/g, 'COMMAND')
      .replace(/Deadline: .* \+00:00/, 'Deadline: TIME')
      .replace(/after \d+ s/, 'after N s')
      .replace(/nohup .*/, 'nohup …');
    expect(said).toMatchInlineSnapshot(`
      "COMMAND runs on this computer, not on the instances: COMMAND
      warning: COMMAND mentions none of GPUCLOUD_ANSIBLE_INVENTORY, GPUCLOUD_SSHLOGINFILE, GPUCLOUD_HOSTFILE, GPUCLOUD_SSH_CONFIG, so the instances may bill unused. To run it on each instance: gpucloud instances create NAME --count 2 --terminate-after 8h --wait=ssh; then for each: gpucloud run --on NAME-1 --detach --sync . --fetch result:HOME/got/NAME-1/ -- COMMAND
      Price per hour: unknown until created; --max-price sets a limit.
      warning: If this run is killed, nothing terminates job-1 and job-2 at their deadlines. If its terminal closes, it terminates them without copying files back. To schedule termination: nohup …
      Renting job-1 and job-2
      Deadline: TIME. The command is interrupted 6 min before the deadline (--grace).
      Starting job-1 and job-2
      Running COMMAND
      Fetching from job-1 and job-2
      Terminating job-1 and job-2
      COMMAND: exit code 3
      Fetched HOME/got/job-1/, HOME/got/job-2/
      Terminated job-1 and job-2 after N s.
      They cost at most 179.80 ₽: job-1 at most 89.90 ₽, job-2 at most 89.90 ₽.
      "
    `);
    const rows = [...world.renting.instances.values()].map(({ id, name }) => ({
      ...{ id, name, terminated: true, fetched: [`${world.local('got')}/${name}/`] },
      ...{ cost: null, cost_at_most: '89.90', error: null },
      phases: {
        renting: expect.any(Number),
        copying: null,
        setup: null,
        running: expect.any(Number),
        fetching: expect.any(Number),
      },
      gpu: { busy_percent: 50, peak_memory_mib: 1000, memory_total_mib: 24564 },
    }));
    const instances = rows.sort((one, other) => (one.name < other.name ? -1 : 1));
    expect(report()).toEqual({
      ...{ command_exit_code: 3, stage: 'done', instances, terminated: true },
      fetched: instances.flatMap(({ fetched }) => fetched),
      seconds: expect.any(Number),
      ...{ cost: null, cost_at_most: '179.80', exit_code: 3, error: null },
    });
    expect(heard(world)).toMatchObject([
      {
        event: 'job_ended',
        message: 'The command on job-1 and job-2 exited with 3. Terminated job-1 and job-2.',
      },
    ]);
  });

  test('writes inventories to a private folder and removes them at the end', async () => {
    const variables = ['ANSIBLE_INVENTORY', 'SSHLOGINFILE', 'HOSTFILE', 'SSH_CONFIG'];
    const script = variables.map((name) => `cat "$GPUCLOUD_${name}" >${name}`).join(' && ');
    const folder = 'ls -ld "$(dirname "$GPUCLOUD_HOSTFILE")" >folder';
    await here(`${script} && ${folder}`);
    for (const name of variables) {
      expect(local(name)).toContain('job-1');
      expect(local(name)).toContain('job-2');
    }
    expect(local('folder')).toMatch(/^drwx------.*gpucloud-here-/);
    expect(folders()).toEqual([]);
  });

  test.each([
    ['exits with 125 after a command that succeeded', 0, 125, 'error'],
    ["warns after a command that failed, and keeps the command's code", 4, 4, 'warning'],
  ])('%s, if an instance lacks a result', async (_what, ends, code, kind) => {
    const done = await here(`${results(NEW)}; exit ${ends}`, fetching());
    expect({ code: done.code, statuses: statuses() }).toEqual({ code, statuses: ENDED });
    const lacking = world.renting.instances.get(OTHER)?.name;
    expect(done.stderr).toMatch(new RegExp(`^${kind}: ${lacking}: .*result does not exist`, 'm'));
    expect(readdirSync(world.local('got'))).toEqual([world.renting.instances.get(NEW)?.name]);
    expect(report()).toMatchObject({ command_exit_code: ends, exit_code: code, terminated: true });
  });

  test('exits with 125 and terminates the other instance if one is refused', async () => {
    answerFor('job-1', no(409, 'out of stock'));
    await here('touch ran');
    expect(Object.values(statuses())).toEqual(['TERMINATING']);
    expect(existsSync(world.local('ran'))).toBe(false);
  });

  test('terminates an instance at its deadline while others are still to be rented', async () => {
    withoutTranscript();
    world.renting.posts = Array.from(
      { length: 60 },
      () =>
        ({ body }: { readonly body: unknown }) =>
          JSON.stringify(body).includes('job-2')
            ? no(409, 'out of stock')
            : ok(world.renting.rent(NEW, 'job-1'), 201),
    );
    const flags = ['--retry-for', '6h', '--min-count', '1', '--terminate-after', '10m'];
    const ended = here('touch ran', flags);
    await until(() => Object.values(statuses()).includes('ACTIVE'));
    world.advance(11 * 60_000);
    await until(() => Object.values(statuses()).includes('TERMINATING'));
    world.advance(6 * 3_600_000);
    const { code, stderr } = await ended;
    expect({ code, ran: existsSync(world.local('ran')) }, stderr).toEqual({
      code: 125,
      ran: false,
    });
  });

  test("exits with 125 and terminates all instances if one can't be prepared", async () => {
    withoutTranscript();
    world.ssh.refuse = (script) =>
      script.includes('mkdir -p gpucloud-run/work') ? 'Host key verification failed.' : undefined;
    const { code, stderr } = await here('touch ran', ['--min-count', '2']);
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 125, statuses: ENDED });
    expect(existsSync(world.local('ran'))).toBe(false);
    expect(report()).toMatchObject({ stage: 'starting', command_exit_code: null });
    expect(stderr).toMatch(
      /^error: Fewer than 2 instances \(--min-count\) could be prepared\. job-\d: Could not create/m,
    );
  });

  test('terminates all instances if it cannot write an inventory', async () => {
    world.ssh.refuse = () => {
      for (const name of folders()) mkdirSync(world.local(`${name}/hostfile`), { recursive: true });
      return undefined;
    };
    const { code, stderr } = await here('touch ran');
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 125, statuses: ENDED });
    expect(existsSync(world.local('ran'))).toBe(false);
  });

  test('exits with 7 and reports the instance that it could not terminate', async () => {
    const { terminate } = world.renting;
    world.renting.terminate = (id) =>
      id === OTHER ? no(403, 'Forbidden') : terminate.call(world.renting, id);
    const { code, stderr } = await here('true', [], { speed: 100 });
    const left = world.renting.instances.get(OTHER)?.name ?? '';
    expect({ code, statuses: statuses() }).toEqual({
      code: 7,
      statuses: { ...ENDED, [left]: 'ACTIVE' },
    });
    expect(stderr).toMatch(
      new RegExp(`^error: Could not terminate ${left} .*still be billing`, 'm'),
    );
    expect(report()).toMatchObject({ stage: 'terminating', terminated: 'unknown', exit_code: 7 });
    world.renting.terminate = terminate;
    const { rows } = await reap(world);
    expect(rows).toMatchObject([{ name: left, outcome: 'terminated', reason: 'job' }]);
    expect(statuses()).toEqual(ENDED);
  });
});

describe('Ctrl-C during gpucloud run --here', () => {
  test('interrupts the command and fetches its results', async () => {
    const { interrupts, press } = ctrlC();
    const script = `trap '${results(NEW, OTHER)}; exit 9' INT; ${LASTS}`;
    const ended = here(script, fetching(), { interrupts });
    await isUp();
    press();
    const { code, stderr } = await ended;
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 9, statuses: ENDED });
    expect(['job-1', 'job-2'].map(gotFrom)).toEqual([true, true]);
  });

  test.each([
    ['stdin', () => ({ stdin: Object.assign(new PassThrough(), { isTTY: true }) })],
    ['stderr', () => ({ terminal: createEmulator(80, 20) })],
  ])('does not send a second SIGINT to a command in a terminal (%s)', async (_at, terminal) => {
    const { interrupts, press } = ctrlC();
    const script = `trap 'exit 9' INT; touch up; until [ -e go ]; do sleep 0.1; done; exit 3`;
    const ended = here(script, [], { interrupts, ...terminal() });
    await isUp();
    press();
    writeFileSync(world.local('go'), '');
    expect(await ended).toMatchObject({ code: 3 });
  });

  test('exits with 130 without fetching results at the second Ctrl-C', async () => {
    const { interrupts, press } = ctrlC();
    const script = `${results(NEW, OTHER)}; trap '' INT; trap 'echo >ended; exit 1' TERM; ${LASTS}`;
    const ended = here(script, fetching(), { interrupts });
    await isUp();
    press();
    press();
    const { code, stderr } = await ended;
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 130, statuses: ENDED });
    expect(['job-1', 'job-2'].map(gotFrom)).toEqual([false, false]);
    expect(existsSync(world.local('ended'))).toBe(true);
  });

  test('exits with 7 and reports each instance at the third Ctrl-C', async () => {
    await notifying(world);
    const leaving = new Set<() => void>();
    const answers: (() => void)[] = [];
    world.renting.terminations = [NEW, OTHER].map(
      () => (id) =>
        new Promise((resolve) => {
          if (answers.push(() => resolve(world.renting.terminate(id))) !== 2) return;
          for (const leave of leaving) leave();
        }),
    );
    await here('exit 3', [], {
      onThirdInterrupt: (third) => {
        leaving.add(third);
        return () => leaving.delete(third);
      },
    });
    expect(heard(world)).toEqual([]);
    // Lets the requests end, which a process would leave behind.
    const before = world.service.requests.length;
    for (const answer of answers) answer();
    await until(() => world.service.requests.length > before + 1);
  });

  test('prints during the fetch that another Ctrl-C skips the remaining results', async () => {
    const { interrupts, press } = ctrlC();
    world.ssh.refuse = (script) => {
      if (script.includes('result') && !interrupts.first.aborted) press();
      return undefined;
    };
    await here(results(NEW, OTHER), fetching(), { interrupts });
    expect(['job-1', 'job-2'].map(gotFrom)).toEqual([true, true]);
  });
});

describe('the deadline of gpucloud run --here', () => {
  const flags = () => ['--terminate-after', '10m', '--grace', '4m', ...fetching()];

  test('interrupts the command in time to fetch its results', async () => {
    const ended = here(`trap '${results(NEW, OTHER)}; exit 9' INT; ${LASTS}`, flags());
    await isUp();
    world.advance(7 * 60_000);
    const { code, stderr } = await ended;
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 9, statuses: ENDED });
    expect(['job-1', 'job-2'].map(gotFrom)).toEqual([true, true]);
  });

  test('kills a command that ignores the interrupt, and fetches existing results', async () => {
    const ended = here(`trap '' INT; ${results(NEW, OTHER)}; ${LASTS}`, flags());
    await isUp();
    world.advance(8.5 * 60_000);
    const { code, stderr } = await ended;
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 125, statuses: ENDED });
    expect(['job-1', 'job-2'].map(gotFrom)).toEqual([true, true]);
    expect(report()).toMatchObject({ command_exit_code: null, exit_code: 125 });
  });
});

describe('gpucloud run --here with one instance', () => {
  const alone = (script: string, ...flags: string[]) =>
    world.run(`cd ${world.local('.')}; ${script}`, ['--here', ...flags], { speed: 100 });

  test('names a single instance job without a number, and prints the report as JSON', async () => {
    const { code, stderr } = await alone('exit 3', '--json');
    expect({ code, statuses: statuses() }).toEqual({ code: 3, statuses: { job: 'TERMINATING' } });
    const { run } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
    expect(run).toMatchObject({ command_exit_code: 3, terminated: true, cost_at_most: '89.90' });
    expect(run.instances).toHaveLength(1);
  });

  test('prints a refusal without the instance name or a cost', async () => {
    world.renting.posts = [() => no(409, 'out of stock')];
    const { code } = await alone('true');
    expect(code).not.toBe(125);
  });

  test.each([
    [[], 'the file or its interpreter was not found (ENOENT)'],
    // Node throws this one.
    [['x'.repeat(2_000_000)], 'E2BIG'],
  ])("exits with 125 if the command can't be started, row %#", async (args, why) => {
    withoutTranscript();
    writeFileSync(world.local('bad'), '#!/no/such/interpreter\n', { mode: 0o755 });
    const argv = ['--here', '--name', 'job', '--terminate-after', '1h'];
    const { code, stderr } = await world.run('', argv, {}, [world.local('bad'), ...args]);
    expect({ code, statuses: statuses() }).toEqual({ code: 125, statuses: { job: 'TERMINATING' } });
    expect(stderr).toContain(`Could not start ${world.local('bad')}: ${why}.`);
  });

  test('copies the --sync files to the instance', async () => {
    mkdirSync(world.local('in'));
    writeFileSync(world.local('in/a'), 'x\n');
    const check = `cat ${world.there(NEW)}/gpucloud-run/work/a`;
    await alone(`${check} >seen`, '--sync', world.local('in'));
    expect(local('seen')).toBe('x\n');
  });

  test("keeps the command's exit code if the report can't be written", async () => {
    mkdirSync(world.local('reports'));
    const path = world.local('reports/r.json');
    await alone('rm -r reports; exit 3', '--report', path);
  });
});

test('sends SIGHUP to the --here command and exits with 129 when the terminal closes', async () => {
  const { interrupts, press } = ctrlC(new CliError('hungUp', 'The terminal closed.'));
  const script = `trap 'echo >hung; exit 1' HUP; trap '' TERM; ${LASTS}`;
  const ended = here(script, fetching(), { interrupts });
  await isUp();
  press();
  const { code, stderr } = await ended;
  expect({ code, statuses: statuses() }, stderr).toEqual({ code: 129, statuses: ENDED });
  expect(existsSync(world.local('hung'))).toBe(true);
});

test('kills a --here command that ignores SIGINT and SIGTERM', async () => {
  const { interrupts, press } = ctrlC(new CliError('terminated', 'Terminated.'));
  const script = `echo $$ >pid; trap '' TERM INT; ${LASTS}`;
  const ended = here(script, [], { interrupts, speed: 50 });
  await isUp();
  press();
  const { code, stderr } = await ended;
  expect({ code, statuses: statuses() }, stderr).toEqual({ code: 143, statuses: ENDED });
  const pid = Number(local('pid'));
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
