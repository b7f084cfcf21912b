import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { FAILURES } from '../../src/errors.ts';

/** `command-lines.test.ts` runs its command lines. */
const SKILL = readFileSync(
  fileURLToPath(new URL('../../skills/gpucloud/SKILL.md', import.meta.url)),
  'utf8',
);

test('keeps the skill within 8 KB', () => {
  expect(Buffer.byteLength(SKILL)).toBeLessThanOrEqual(8 * 1024);
});

test('names and describes the skill', () => {
  const [, head = ''] = /^---\n(.*?)\n---\n/s.exec(SKILL) ?? [];
  const { name, description } = parse(head);
  expect(name).toBe('gpucloud');
  expect(description.length).toBeGreaterThan(50);
  expect(description.length).toBeLessThan(1024);
});

test('lists exit codes that exist', () => {
  const listed = [...SKILL.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  const known: number[] = [0, ...Object.values(FAILURES).map(({ exit }) => exit)];
  expect(listed.filter((code) => !known.includes(code))).toEqual([]);
  expect(listed).toEqual(expect.arrayContaining([2, 3, 4, 7, 8, 125]));
});
