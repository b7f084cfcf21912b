import { mkdir, mkdtemp, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stepsWith } from '../../../src/commands/sandbox/tour-steps.ts';
import { createWorld, type World } from '../../support/run-cli.ts';

// test/project/package runs the ssh steps, which need the built program.
const NO_SSH = { PATH: '/nowhere' };
const STEPS = stepsWith(false);

// Uses its own temporary folder, since other tests run tours at the same time.
const TMPDIR = process.env.TMPDIR;
let world: World;
beforeEach(async () => {
  process.env.TMPDIR = await mkdtemp(join(tmpdir(), 'tour-'));
  world = await createWorld({ handler: () => 'hangUp', isKeyNew: true });
});
afterEach(async () => {
  expect(world.service.requests).toEqual([]);
  await world.close();
  const folder = tmpdir();
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  // Fails if the tour left a file.
  await rmdir(folder);
});

describe('sandbox tour', () => {
  test('runs a whole rental, and deletes its files', async () => {
    const { code, stdout, stderr } = await world.cli(['sandbox', 'tour'], { env: NO_SSH });
    expect(code).toBe(0);
    const stable = stderr
      .replace(/(?<=\()[\w-]{36}(?=\))/g, 'ID')
      // Periods are local.
      .replace(/(?<=from ).+ to .+(?=\.\n)/, 'TIME to TIME')
      .replace(/(?<=Times are local: ).+(?=\.\n)/, 'ZONE');
    await expect(stable).toMatchFileSnapshot('tour.txt');
    expect(stdout).toMatch(/my-box.*ACTIVE/);
    expect(stdout).toMatch(/my-box.*TERMINATED/);
    expect(await readdir(world.home)).toEqual([]);
  });

  test('connects, and runs a job, only with ssh', () => {
    const lines = stepsWith(true).map(({ title, argv }) => `${title}: ${argv.join(' ')}`);
    const others = STEPS.map(({ title, argv }) => `${title}: ${argv.join(' ')}`);
    const flags = '--offer rtx-4090 --image ubuntu-22-04 --ssh-key tour';
    expect(lines.filter((line) => !others.includes(line))).toEqual([
      'Add an SSH key: ssh-keys add $TOUR/key.pub --name tour',
      `Rent an instance: instances create my-box ${flags} --wait`,
      'Connect: instances ssh my-box --identity $TOUR/key -- nvidia-smi',
      `Run a whole job: run ${flags} --identity $TOUR/key --terminate-after 1h --unenforced --sync $TOUR/job --fetch output.txt:$TOUR/job -- sh -c tr a-z A-Z < input.txt | tee output.txt`,
    ]);
  });

  test('ignores the active key and base URL without a warning', async () => {
    const { stderr } = await world.cli(['sandbox', 'tour'], {
      env: { ...NO_SSH, GPUCLOUD_OUTPUT: 'table' },
    });
    expect(stderr).not.toMatch(/GPUCLOUD_(API_KEY|BASE_URL)/);
  });

  test('prints each step with the result of its command as JSON', async () => {
    const { code, stdout } = await world.cli(['sandbox', 'tour', '--json', '--color=never']);
    expect(code).toBe(0);
    const steps: { title: string; command: string; result: unknown }[] = JSON.parse(stdout);
    expect(steps.map(({ title }) => title)).toEqual(STEPS.map(({ title }) => title));
    const resultOf = (command: string) =>
      steps.find((step) => step.command.startsWith(`gpucloud ${command}`))?.result;
    expect(resultOf('status')).toMatchObject({
      instances: [{ name: 'my-box', status: 'ACTIVE' }],
    });
    // Three hours cost 89.90 each; the fourth is only reserved.
    expect(JSON.stringify(resultOf('billing spend'))).toContain('269.70');
  });

  test('prints the error of a failed step as JSON', async () => {
    const argv = STEPS[1]?.argv as string[];
    const at = argv.indexOf('rtx-4090');
    argv[at] = 'no such offer';
    try {
      const { code, stderr } = await world.cli(['sandbox', 'tour', '--json']);
      expect(code).toBe(1);
      const { error } = JSON.parse(stderr);
      expect(error.code).toBe('refused');
      expect(error.message).toMatch(
        /^The tour stopped at "gpucloud instances create .+": .*no such offer/,
      );
      const people = await world.cli(['sandbox', 'tour'], { env: NO_SSH });
      expect(people.stderr).toMatch(
        /\nerror: The tour stopped at "gpucloud instances [^\n]+"\.\n$/,
      );
    } finally {
      argv[at] = 'rtx-4090';
    }
  });

  test('asks before each step in a terminal, and stops after the answer No', async () => {
    const { code, stdout, stderr } = await world.cli(['sandbox', 'tour'], {
      terminal: true,
      env: NO_SSH,
      stdin: 'n\n',
    });
    expect(code).toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toContain('Run it?');
    expect(stderr).toContain('The tour ends here. Its sandbox is deleted.');
  });

  test.each([
    ['linux', 0, true],
    ['linux', 1, false],
    ['win32', 0, false],
  ])(
    'offers the steps with ssh if ssh-keygen makes a key: %s, %i',
    async (platform, code, hasSsh) => {
      const folder = join(world.home, 'bin');
      await mkdir(folder);
      const script = `#!/bin/sh\necho "$@" > "${folder}/args"\nexit ${code}\n`;
      await writeFile(join(folder, 'ssh-keygen'), script, { mode: 0o755 });
      const { stderr } = await world.cli(['sandbox', 'tour'], {
        terminal: true,
        platform,
        env: { PATH: folder },
        stdin: 'n\n',
      });
      expect(stderr).toContain(`1 of ${stepsWith(hasSsh).length}:`);
      expect(await readFile(join(folder, 'args'), 'utf8')).toMatch(
        /^-q -t ed25519 -N {2}-C tour -f \/.*\/key\n$/,
      );
    },
  );

  test('exits with 130 on an interrupt and removes its folder', async () => {
    const { code, stdout } = await world.cli(['sandbox', 'tour'], {
      terminal: true,
      env: NO_SSH,
      stdin: '\u0003',
    });
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  });
});
