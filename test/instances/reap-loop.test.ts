import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWorld } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';

test('leaves no log in the folder where the loop of reap is pasted', async () => {
  const world = await createWorld({ handler: () => 'hangUp' });
  const argv = ['instances', 'create', 'trainer', ...HARDWARE, '--terminate-after', '4h'];
  const { stderr } = await world.cli(argv);
  const line = stderr.split('\n').find((one) => one.startsWith('nohup'));
  const [bin, folder] = [join(world.home, 'bin'), join(world.home, 'project')];
  for (const one of [bin, folder]) mkdirSync(one);
  const ran = join(world.home, 'ran');
  const script = `#!/bin/sh\necho out; echo error >&2; echo "$*" >'${ran}'; kill "$PPID"\n`;
  writeFileSync(join(bin, 'gpucloud'), script);
  chmodSync(join(bin, 'gpucloud'), 0o755);
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: world.home };
  const pasted = spawnSync('sh', ['-c', `${line} wait`], { cwd: folder, env });
  expect([`${pasted.stdout}`, `${pasted.stderr}`]).toEqual(['', '']);
  expect(readFileSync(ran, 'utf8')).toBe('instances reap --every 5m\n');
  expect(readdirSync(folder)).toEqual([]);
});
