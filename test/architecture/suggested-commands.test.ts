import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { entriesOf } from '../../src/command-line/group.ts';
import { root } from '../../src/commands/tree.ts';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Commands that use no profile, or take it as an argument. */
const WITHOUT_PROFILE = [
  'commands',
  'completion',
  'help',
  'login',
  'logout',
  'profiles',
  'sandbox',
];

/** Files that name commands without suggesting them for the profile in use. */
const PLAIN: readonly string[] = [
  // Help.
  'commands/tree.ts',
  'commands/help/index.ts',
  'errors.ts',
  'instances/rent/manifest-json.ts',
  // The headers of files that gpucloud writes.
  'instances/rent/manifest-text.ts',
  'instances/scheduler/systemd.ts',
  'ssh/hosts/ssh-config.ts',
  // The content of a test file.
  'commands/doctor/settings.ts',
  // These files name the running command, and suggest nothing.
  'commands/doctor/service.ts',
  'jobs/sign-in.ts',
  'jobs/stages/copies.ts',
  'ssh-keys/private-half.ts',
];

const NAMES = entriesOf(root).map(({ name }) => name);
const LITERAL = new RegExp(
  `\\bgpucloud (?:${NAMES.filter((name) => !WITHOUT_PROFILE.includes(name)).join('|')})\\b`,
);

/** Returns the lines with a command in plain text, without comments and the help of a verb. */
function literalCommandsIn(source: string): string[] {
  return source
    .replace(/^\s*\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    .replace(/\bexamples: \[[\s\S]*?\],?$/gm, '')
    .replace(/\bnotes:\s*'[\s\S]*?',$/gm, '')
    .split('\n')
    .filter((line) => LITERAL.test(line));
}

test('builds suggested commands with gpucloud(), which leaves room for the profile', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !PLAIN.includes(name))
    .sort();
  const found = files.flatMap((file) =>
    literalCommandsIn(readFileSync(join(SRC, file), 'utf8')).map((line) => `${file}: ${line}`),
  );
  expect(found).toEqual([]);
});
