import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { tree } from './tree.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** All commands, with groups, aliases and hidden commands. */
const KNOWN = new Set<string>();
for (const group of tree.commands) {
  for (const name of [group.name(), ...group.aliases()]) {
    KNOWN.add(name);
    for (const verb of group.commands) {
      for (const word of [verb.name(), ...verb.aliases()]) KNOWN.add(`${name} ${word}`);
    }
  }
}

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

const TEXTS = [
  'README.md',
  'CONTRIBUTING.md',
  'skills/gpucloud/SKILL.md',
  ...filesBelow('src', '.ts'),
  ...filesBelow('docs', '.md'),
];

/** Finds suggested commands: a known group and the next word. */
function namedIn(text: string): string[] {
  const named = text.matchAll(
    /\bgpucloud(?: |\(')(?:--profile \S+ )?([a-z][a-z-]*)(?:(?: |', ')([a-z][a-z-]*))?/g,
  );
  return [...named].flatMap(([, group = '', verb]) => {
    const known = tree.commands.find((command) =>
      [command.name(), ...command.aliases()].includes(group),
    );
    return known === undefined || known.commands.length === 0 || verb === undefined
      ? []
      : [`${group} ${verb}`];
  });
}

test.each(TEXTS)('suggests in %s only commands that exist', (file) => {
  const named = namedIn(readFileSync(join(ROOT, file), 'utf8'));
  expect(named.filter((command) => !KNOWN.has(command))).toEqual([]);
});

test('detects a command that does not exist', () => {
  expect(
    namedIn(
      "see gpucloud instances nonsense ID, gpucloud --profile x drives list, gpucloud('me', 'odd', id)",
    ),
  ).toEqual(['instances nonsense', 'drives list', 'me odd']);
  expect(KNOWN.has('instances nonsense')).toBe(false);
  expect(KNOWN.has('instances recover')).toBe(true);
});
