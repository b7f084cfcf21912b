import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FIELDS } from '../../src/instances/rent/manifest-json.ts';
import { createJobWorld, IMAGE, type JobWorld, KEY_ID, OFFER } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { type Computer, createComputer } from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';
import { makeKey } from '../support/sshd.ts';

let world: JobWorld;
let folder: string;

const JOB = `
$schema: job.schema.json
name: job
offers: [${OFFER}]
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
if_idle: 45m
rescue: ['out:rescued']
rescue_budget: 50
retry_for: 1m
max_price: 100
keep_on_failure: 0s
grace: 1m
`;

/** Creates a folder with a job file and its `sync` folder. */
async function createProject(path: string, job: string): Promise<void> {
  await mkdir(join(path, 'src'), { recursive: true });
  await writeFile(join(path, 'job.yaml'), job);
  await writeFile(join(path, 'job.env'), 'EPOCHS=3\n');
  await writeFile(join(path, 'src', 'in.txt'), 'hello\n');
  await writeFile(join(path, 'src', 'kept'), '');
  await writeFile(join(path, 'src', 'skip.bin'), '');
  await writeFile(join(path, 'src', '.gitignore'), 'kept\n');
}

describe('gpucloud run -f', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
    folder = join(world.computer.home, 'project');
    await createProject(folder, JOB);
  });
  afterEach(() => world.close());

  const run = (...argv: string[]) =>
    world.computer.gpucloud(['run', '-f', join('project', 'job.yaml'), ...argv], {
      env: { ...world.env, TOKEN: 'sesame', PASSED: 'passed' },
    });

  test('runs the job of a file, with paths relative to the file', async () => {
    const { code, stdout, stderr } = await run(...world.signIn, '--unenforced');
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
      `Ignored fields of project/job.yaml: name, offers, image_id, ssh_keys, terminate_after, if_idle, rescue, rescue_budget, retry_for, max_price, keep_on_failure.\n`,
    );
    expect(await readFile(join(folder, 'tables', 'a.csv'), 'utf8')).toBe('hello\n');
    expect({ status: world.status(), rentals: world.rentals() }).toEqual({
      status: 'ACTIVE',
      rentals: 0,
    });
  });
});

/** Fields that a file can't have together with the others. */
const OTHERS = ['instance_name', 'offer_id', 'terminate_at', 'here', 'count', 'min_count'];

/** The job above, with names, a drive and a container. */
const SANDBOX_JOB = `${JOB.replace(OFFER, 'RTX 4090').replace(IMAGE, 'Ubuntu 22.04').replace(KEY_ID, 'laptop')}
template_id: jupyterlab
storage_drive_id: datasets
docker_config:
  image: pytorch/pytorch
  run_command: sleep infinity
  shm_size_gb: 8
  ports: [{external_port: 80, internal_port: 8080, protocol: TCP, name: web, is_main: true}]
  volumes: [{container_path: /data, host_path: /mnt}]
`;

describe('gpucloud run -f in the sandbox', { timeout: 60_000, ...needs('ssh') }, () => {
  let computer: Computer;
  const gpucloud = (argv: readonly string[], env = {}) =>
    computer.gpucloud(argv, { env: { GPUCLOUD_PROFILE: 'sandbox', ...env } });

  beforeEach(async () => {
    computer = await createComputer();
  });
  afterEach(async () => {
    await gpucloud(['sandbox', 'reset', '--yes']);
    await computer.remove();
  });

  async function done(...argv: string[]) {
    const { code, stdout, stderr } = await gpucloud([...argv, '--json']);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  }

  test('runs a job with all fields of a file', async () => {
    const fields = [...SANDBOX_JOB.matchAll(/^([$\w]+):/gm)].map(([, field]) => field);
    const known = Object.keys(FIELDS).filter((field) => !field.includes('.'));
    expect([...fields, ...OTHERS].sort()).toEqual(known.sort());

    const key = makeKey(computer.home, 'laptop');
    await done('sandbox', 'reset', '--speed', '60', '--yes');
    await done('ssh-keys', 'add', '--name', 'laptop', `${key}.pub`);
    await done('drives', 'create', 'datasets', '--size', '10', '--yes');
    await createProject(join(computer.home, 'project'), SANDBOX_JOB);
    const argv = ['run', '-f', join('project', 'job.yaml'), '--identity', key, '--unenforced'];
    const { code, stdout, stderr } = await gpucloud(argv, { TOKEN: 'sesame', PASSED: 'passed' });
    // The variables of env are those of the container.
    expect({ code, stdout }, stderr).toEqual({
      code: 3,
      stdout: '   passed\n.gitignore\nin.txt\nkept\nmade\n',
    });
    const [row] = await done('jobs', 'list');
    expect(row).toMatchObject({ name: 'job', status: 'EXITED', exit_code: 3 });
    expect(await done('instances', 'get', row.id)).toMatchObject({
      status: expect.stringMatching(/^TERMINAT/),
      application_template: { slug: 'jupyterlab' },
      docker_config: { image: 'pytorch/pytorch', shm_size_gb: 8 },
    });
    // Users advance the clock of the sandbox. Absolute times stay, also beside a running job.
    const hardware = ['--offer', 'RTX 4090', '--image', 'Ubuntu 22.04', '--ssh-key', 'laptop'];
    const lasting = [...hardware, '--detach', '--terminate-after', '9d', '--unenforced'];
    const words = ['run', '--name', 'lasting', ...lasting, '--identity', key, '--', 'sleep', '30'];
    const detached = await gpucloud(words);
    expect(detached.code, detached.stderr).toBe(0);
    const ended = async () => (await gpucloud(['jobs', 'list'])).stdout.match(/^job .*$/m)?.[0];
    const listed = await ended();
    await done('sandbox', 'advance', '2d');
    expect(await ended()).toBe(listed);
    expect(listed).toBeDefined();
  });
});
