import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type CiRunner, createCiRunner, killed } from '../jobs/ci-runner.ts';
import { createJobWorld, IMAGE, type JobWorld, OFFER } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { outcomeOf } from '../support/program.ts';
import { NEW, nameIn } from '../support/renting-service.ts';
import { until } from '../support/ssh-world.ts';

const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const JOBS = [...read('docs/ci.md').matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) =>
  parse(text),
);
const ACTION = parse(read('action/action.yml'));

test('uses only existing inputs and outputs of the action in docs/ci.md', () => {
  const { steps } = JOBS.find(({ on }) => on === 'workflow_dispatch').jobs.train;
  const { with: inputs } = steps.find(({ uses = '' }) => uses.includes('gpucloud/action'));
  const required = Object.entries<{ required?: boolean }>(ACTION.inputs).filter(
    ([, { required = false }]) => required,
  );
  expect(Object.keys(ACTION.inputs)).toEqual(expect.arrayContaining(Object.keys(inputs)));
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining(required.map(([name]) => name)));
  const outputs = [...read('docs/ci.md').matchAll(/outputs\.([a-z-]+)/g)].map(([, name]) => name);
  expect(Object.keys(ACTION.outputs)).toEqual(expect.arrayContaining(outputs));
});

test('lists every secret and variable of the jobs in docs/ci.md', () => {
  const page = read('docs/ci.md');
  const used = [...page.matchAll(/(?:secrets|vars)\.([A-Z_]+)|\$(GPU[A-Z_]+)/g)].map(
    ([, inGitHub, inGitLab]) => inGitHub ?? inGitLab ?? '',
  );
  const listed = [...page.matchAll(/^ *\|(( `[A-Z_]+`,?)+) \| (?:secret|variable)/gm)].flatMap(
    ([, names = '']) => names.match(/[A-Z_]+/g) ?? [],
  );
  // The job names them itself, to pass them to its command.
  const ofJob = ['HF_TOKEN', 'WANDB_API_KEY'];
  expect(new Set(used.filter((name) => !ofJob.includes(name)))).toEqual(new Set(listed));
});

test('installs gpucloud in docs/ci.md as in the README', () => {
  const { steps } = JOBS.find(({ on }) => on === 'workflow_dispatch').jobs.train;
  const { run } = steps.find(({ name = '' }) => name === 'Install gpucloud');
  const readme = read('README.md');
  const [, build] = /^(npm run build && npm link)$/m.exec(readme) ?? [];
  expect(readme).toMatch(/^npm ci && npm run demo$/m);
  expect(run.trim().split('\n').at(-1)).toBe(`npm ci && ${build}`);
});

describe('the GitLab job', needs('ssh'), () => {
  let world: JobWorld;
  let runner: CiRunner;
  beforeEach(async () => {
    world = await createJobWorld();
    runner = await createCiRunner(world);
  });
  afterEach(() => world.close());

  const job = JOBS.find(({ train }) => train !== undefined)?.train;

  /** Runs lines as GitLab does: with all variables set, up to the first failure. */
  function startLines(lines: readonly string[], project: string) {
    const variables = Object.entries<string>(job.variables).map(([name, value]) => [
      name,
      value.replace('$CI_JOB_ID', '17').replace('$CI_PROJECT_DIR', project),
    ]);
    const given = { GPU_OFFER: OFFER, GPU_IMAGE: IMAGE, GPU_SSH_KEY: world.clientKey };
    return spawn('bash', ['-ec', lines.join('\n')], {
      cwd: project,
      detached: true,
      env: { ...runner.env, ...Object.fromEntries(variables), ...given },
    });
  }

  /** Lets the service finish each termination after its first read. */
  function finishTerminations() {
    const { instances } = world.renting;
    world.renting.onRead = async (id) => {
      const instance = instances.get(id);
      if (instance?.status === 'TERMINATING') {
        instances.set(id, { ...instance, status: 'TERMINATED' });
      }
    };
  }

  const runLines = (lines: readonly string[], project: string) =>
    outcomeOf(startLines(lines, project));

  test('runs, fetches, terminates, and terminates again in after_script', async () => {
    const project = join(world.computer.home, 'project');
    await mkdir(project);
    await writeFile(join(project, 'train.sh'), 'ls\n');
    const ran = await runLines(job.script, project);
    expect(ran.code, ran.stderr).toBe(0);
    expect(await readFile(join(project, 'results', 'log'), 'utf8')).toBe('results\ntrain.sh\n');
    expect(JSON.parse(await readFile(join(project, 'report.json'), 'utf8'))).toMatchObject({
      terminated: true,
      instance: { name: 'ci-17' },
    });
    expect(world.status()).toBe('TERMINATING');
    finishTerminations();
    const after = await runLines(job.after_script, project);
    expect(after.code, after.stderr).toBe(0);
    expect(after.stderr).not.toContain('It may still be billing');
    expect(world.status()).toBe('TERMINATED');
  });

  test("terminates a killed job's instance in after_script", async () => {
    const project = join(world.computer.home, 'project');
    await mkdir(project);
    await writeFile(join(project, 'train.sh'), 'sleep 60\n');
    const script = startLines(job.script, project);
    await until(() => world.service.requests.some(({ path }) => path === `/instances/${NEW}`));
    await killed(script);
    expect(world.status()).toBe('ACTIVE');
    finishTerminations();
    const after = await runLines(job.after_script, project);
    expect(after.code, after.stderr).toBe(0);
    expect(world.status()).toBe('TERMINATED');
  });

  test('terminates in after_script after a lost response', async () => {
    const project = join(world.computer.home, 'project');
    await mkdir(project);
    world.renting.posts = [
      ({ body }) => {
        world.renting.rent(NEW, nameIn(body));
        return 'hangUp';
      },
    ];
    expect((await runLines(job.script, project)).code).toBe(7);
    expect(world.status()).toBe('ACTIVE');
    world.renting.drives = [{ id: 'drive-1', current_instance_id: NEW }];
    finishTerminations();
    const after = await runLines(job.after_script, project);
    expect(after.code, after.stderr).toBe(0);
    expect(world.status()).toBe('TERMINATED');
  });
});
