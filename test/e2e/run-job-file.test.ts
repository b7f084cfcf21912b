import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, IMAGE, type JobWorld, KEY_ID, OFFER } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { NEW } from '../support/renting-service.ts';

let world: JobWorld;
let folder: string;

const JOB = `
name: job
offer_id: ${OFFER}
image_id: ${IMAGE}
ssh_keys: [${KEY_ID}]
sync: src
exclude: ['*.bin']
setup: |
  echo "set up $VERSION"
  cp in.txt made
setup_files: [src/in.txt]
gitignore: false
command: |
  echo "$VERSION $TOKEN $EPOCHS $PASSED"
  ls -A
  mkdir out
  cp in.txt out/a.csv
  exit 3
env:
  VERSION: 1.10
  TOKEN:
env_file: [job.env]
pass_env: [PASSED]
fetch: ['out/*.csv:tables', out]
fetch_every: 10m
terminate_after: 1h
retry_for: 1m
max_price: 100
keep_on_failure: 0s
grace: 1m
`;

describe('gpucloud run -f', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
    folder = join(world.computer.home, 'project');
    await mkdir(join(folder, 'src'), { recursive: true });
    await writeFile(join(folder, 'job.yaml'), JOB);
    await writeFile(join(folder, 'job.env'), 'EPOCHS=3\n');
    await writeFile(join(folder, 'src', 'in.txt'), 'hello\n');
    await writeFile(join(folder, 'src', 'kept'), '');
    await writeFile(join(folder, 'src', 'skip.bin'), '');
    await writeFile(join(folder, 'src', '.gitignore'), 'kept\n');
  });
  afterEach(() => world.close());

  const run = (...argv: string[]) =>
    world.computer.gpucloud(['run', '-f', join('project', 'job.yaml'), ...argv], {
      env: { ...world.env, TOKEN: 'sesame', PASSED: 'passed' },
    });

  test('runs the job of a file, with paths relative to the file', async () => {
    const { code, stdout, stderr } = await run(...world.signIn);
    expect({ code, stdout }, stderr).toEqual({
      code: 3,
      stdout: '1.10 sesame 3 passed\n.gitignore\nin.txt\nkept\nmade\n',
    });
    expect(stderr).toContain('set up 1.10\n');
    expect(await readFile(join(folder, 'tables', 'a.csv'), 'utf8')).toBe('hello\n');
    expect(await readFile(join(folder, 'out', 'a.csv'), 'utf8')).toBe('hello\n');
    expect({ status: world.status(), rentals: world.rentals() }).toEqual({
      status: 'TERMINATING',
      rentals: 1,
    });
  });

  test('runs only the job of a file with --on, and names the fields of the instance', async () => {
    world.renting.rent(NEW, 'dev');
    const { code, stdout, stderr } = await run('--on', NEW, ...world.signIn);
    expect({ code, stdout }, stderr).toEqual({
      code: 3,
      stdout: '1.10 sesame 3 passed\n.gitignore\nin.txt\nkept\nmade\n',
    });
    expect(stderr).toContain(
      `Ignored fields of project/job.yaml: name, offer_id, image_id, ssh_keys, terminate_after, retry_for, max_price, keep_on_failure.\n`,
    );
    expect(await readFile(join(folder, 'tables', 'a.csv'), 'utf8')).toBe('hello\n');
    expect({ status: world.status(), rentals: world.rentals() }).toEqual({
      status: 'ACTIVE',
      rentals: 0,
    });
  });
});
