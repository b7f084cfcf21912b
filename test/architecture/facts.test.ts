import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Returns the source files that match a pattern, ignoring comments. */
function filesWith(pattern: RegExp): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .filter((name) => {
      const source = readFileSync(join(SRC, name), 'utf8');
      return pattern.test(source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, ''));
    })
    .sort();
}

test('reads an instance in one file', () => {
  expect(filesWith(/\binstances\s*\.get\(/)).toEqual(['instances/read.ts']);
});

test('terminates an instance in one file', () => {
  // The sandbox is the service.
  const files = filesWith(/\binstances\s*\??\.terminate\b/);
  expect(files.filter((name) => !name.startsWith('sandbox/'))).toEqual([
    'instances/change/ending.ts',
  ]);
});

test('names its own statuses in one file', () => {
  const own = "'(?:GONE|UNKNOWN|IN_FLIGHT|UNREAD)'";
  // A quoted word alone may also be a heading.
  const used = new RegExp(`(?:[!=]==|\\?\\?|\\bstatus:|\\?|\\[) *${own}`);
  expect(filesWith(used)).toEqual([]);
  expect(filesWith(/= 'GONE'/)).toEqual(['rules/statuses.ts']);
});

test('lists the documented statuses in one file', () => {
  // The sandbox plays each transition.
  const files = filesWith(/\bPROVISIONING\b/).filter((name) => !name.startsWith('sandbox/'));
  expect(files).toEqual(['rules/statuses.ts']);
  // Three statuses in one array or condition would be another list.
  const status = "'(?:ACTIVE|STOPPING|STOPPED|STARTING|TERMINATING|TERMINATED|ERROR|GONE)'";
  expect(filesWith(new RegExp(`${status}, ?${status}, ?${status}`))).toEqual([]);
});

test('builds doubts about instances in one file', () => {
  // api/ knows no instance, nothing was sent for the drive, and the ending builds only causes.
  const others = ['api/errors.ts', 'commands/drives/create.ts', 'instances/change/ending.ts'];
  const builders = filesWith(/new CliError\(\s*'outcomeUnknown'/);
  expect(builders.filter((name) => !others.includes(name))).toEqual(['errors.ts']);
});
