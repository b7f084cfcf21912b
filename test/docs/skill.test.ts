import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { FAILURES } from '../../src/errors.ts';
import { createJobWorld, IMAGE, OFFER } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';

/** `command-lines.test.ts` runs the skill's command lines. */
const SKILL = readFileSync(
  fileURLToPath(new URL('../../skills/gpucloud/SKILL.md', import.meta.url)),
  'utf8',
);

test('limits the skill to 8 KB', () => {
  expect(Buffer.byteLength(SKILL)).toBeLessThanOrEqual(8 * 1024);
});

test("states the skill's name and description", () => {
  const [, head = ''] = /^---\n(.*?)\n---\n/s.exec(SKILL) ?? [];
  const { name, description } = parse(head);
  expect(name).toBe('gpucloud');
  expect(description.length).toBeGreaterThan(50);
  expect(description.length).toBeLessThan(1024);
});

test('lists only existing exit codes in the skill', () => {
  const listed = [...SKILL.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  const known: number[] = [0, ...Object.values(FAILURES).map(({ exit }) => exit)];
  expect(listed.filter((code) => !known.includes(code))).toEqual([]);
  expect(listed).toEqual(expect.arrayContaining([2, 3, 4, 7, 8, 125]));
});

describe("the skill's job", needs('ssh'), () => {
  test('runs as printed, copies the results and terminates', async () => {
    const [, job = ''] = /skill\.test\.ts runs it[^\n]*\n```shell\n(.*?)^```/ms.exec(SKILL) ?? [];
    const world = await createJobWorld();
    try {
      const { home } = world.computer;
      // This computer acts as the instance, and may have no Python.
      const python = join(home, 'python');
      await writeFile(python, '#!/bin/sh\nexec sh "$@"\n', { mode: 0o755 });
      const folder = join(home, 'project');
      await mkdir(folder);
      await writeFile(join(folder, 'train.py'), 'mkdir results; echo 0.1 >results/loss; exit 3\n');
      const more = `--identity '${world.clientKey}' --ssh-arg=-F/dev/null`;
      const script = [
        'program() { "$GPUCLOUD_NODE" "$GPUCLOUD_PROGRAM" "$@"; }',
        `program catalog add offer ${OFFER} --name 'RTX 4090' >&2`,
        `program catalog add image ${IMAGE} --name 'Ubuntu 22.04' >&2`,
        `gpucloud() { shift; program run ${more} "$@"; }`,
        `cd '${folder}'`,
        job.replace('python train.py', `'${python}' train.py`),
      ];
      const { code, stderr } = await world.computer.bash(script.join('\n'), { env: world.env });
      expect(code, stderr).toBe(3);
      expect(await readFile(join(folder, 'results', 'loss'), 'utf8')).toBe('0.1\n');
      expect(JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'))).toMatchObject({
        command_exit_code: 3,
        terminated: true,
      });
      expect(world.status()).toBe('TERMINATING');
    } finally {
      await world.close();
    }
  });
});
