import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createJobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';

// jobs/run-on.test.ts has the rules of run --on.
test('run --on leaves its command to jobs attach on SIGTERM, and its instance alone', {
  ...needs('ssh'),
}, async () => {
  const { computer, env, renting, service, signIn, status, there } = await createJobWorld();
  renting.rent(NEW, 'dev');
  const gpucloud = (...argv: string[]) => computer.gpucloud(argv, { env });
  const project = join(computer.home, 'project');
  await mkdir(project);
  await writeFile(join(project, 'in'), 'x');
  const words = ['run', '--on', NEW, ...signIn, '--sync', project, '--fetch', 'result'];
  const command = 'echo up; while [ ! -e go ]; do sleep 0.1; done; cp in result; exit 4';
  const child = computer.start([...words, '--', 'sh', '-c', command], { env });
  const ended = once(child, 'close');
  await heard(child, 'stdout', /up/);
  const said = heard(child, 'stderr', /jobs attach dev/);
  child.kill('SIGTERM');
  expect(await said).toContain('Stopped following dev. Its command may still run.');
  expect(await ended).toEqual([143, null]);
  const jobs = async () => JSON.parse((await gpucloud('jobs', 'list', '--json')).stdout);
  expect(await jobs()).toMatchObject([{ status: 'RUNNING', ended_at: null }]);
  await writeFile(join(there, 'gpucloud-run', 'work', 'go'), '');
  const { code, stdout, stderr } = await gpucloud('jobs', 'attach', 'dev');
  // The output was printed by run.
  expect({ code, stdout }, stderr).toEqual({ code: 4, stdout: '' });
  expect(await readFile(join(computer.home, 'result'), 'utf8')).toBe('x');
  expect(await jobs()).toMatchObject([
    { id: NEW, name: 'dev', status: 'EXITED', exit_code: 4, on: true, cost_at_most: null },
  ]);
  expect(status()).toBe('ACTIVE');
  expect(service.requests.filter(({ path }) => path.endsWith('/terminate'))).toEqual([]);
});
