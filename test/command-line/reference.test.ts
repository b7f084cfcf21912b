import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manPages, referenceFiles } from '../../scripts/reference.mjs';
import type { Reference } from '../../src/command-line/reference/index.ts';
import { needs } from '../support/needs.ts';
import { createWorld, type World } from '../support/run-cli.ts';

const ROOT = new URL('../../', import.meta.url);
const STALE = 'the reference is stale; renew it with: npm run generate';

let world: World;
let reference: Reference;
beforeAll(async () => {
  world = await createWorld({ handler: () => 'hangUp', signedIn: false });
  reference = JSON.parse((await world.cli(['commands', '--json'])).stdout);
});
afterAll(() => world.close());

function textOf(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

function filesIn(folder: string): string[] {
  return readdirSync(new URL(folder, ROOT)).map((name) => `${folder}${name}`);
}

describe('the generated reference', () => {
  test('matches the generated reference to the command tree', () => {
    const files = referenceFiles(reference);
    const written = [...filesIn('docs/commands/'), ...filesIn('man/')];
    expect([...written, 'schemas/stderr.schema.json'].sort(), STALE).toEqual(
      [...files.keys()].sort(),
    );
    const stale = [...files].filter(([path, text]) => textOf(path) !== text);
    expect(
      stale.map(([path]) => path),
      STALE,
    ).toEqual([]);
  });

  test('describes all facts of a command, an argument and a flag', () => {
    const { global_flags, commands, groups } = reference;
    const some = ['drives create', 'instances scp', 'instances wait', 'ssh-keys add'];
    const lines = [
      ...groups,
      ...global_flags,
      ...commands
        .filter(({ command }) => some.includes(command))
        .flatMap(({ arguments: args, flags, ...command }) => [command, ...args, ...flags]),
    ];
    expect(lines.map((line) => JSON.stringify(line)).join('\n')).toMatchSnapshot();
  });

  test('includes the generated reference in the package', () => {
    const { man, files } = JSON.parse(textOf('package.json'));
    expect(man, STALE).toEqual(manPages(reference));
    expect(files).toContain('man/');
  });

  test('links only to existing headings in the reference', () => {
    const pages = filesIn('docs/commands/');
    const headings = new Map(
      pages.map((page) => [
        page.split('/').at(-1) ?? '',
        [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
          heading
            .toLowerCase()
            .replace(/[^a-z0-9 -]/g, '')
            .replaceAll(' ', '-'),
        ),
      ]),
    );
    for (const page of pages) {
      const own = page.split('/').at(-1) ?? '';
      for (const [, target = '', anchor = ''] of textOf(page).matchAll(
        /\]\(([\w-]*(?:\.md)?)#?([\w-]*)\)/g,
      )) {
        const there = headings.get(target === '' ? own : target);
        expect(there, `${page}: ${target}`).toBeDefined();
        if (anchor !== '') expect(there, `${page}: ${target}#${anchor}`).toContain(anchor);
      }
    }
  });

  test('escapes text in the reference that could end a table, a quote or a roff line', () => {
    const evil = 'a|b <c> *d* `e` \\f\n.SH EVIL\n\'g "h" – ~^';
    const command = reference.commands.find(({ words }) => words[0] === 'instances');
    if (command === undefined) throw new Error('there are no commands');
    const files = referenceFiles({
      ...reference,
      commands: [{ ...command, summary: evil, notes: evil, examples: [evil] }],
    });
    const man = files.get('man/gpucloud-instances.1') ?? '';
    expect(man).not.toMatch(/^\.SH EVIL/m);
    expect(man).not.toMatch(/^'/m);
    expect(man).toMatch(/^[\n -~]*$/);
    expect(man).toContain('a|b <c> *d* \\(gae\\(ga \\ef');
    const markdown = files.get('docs/commands/instances.md') ?? '';
    expect(markdown).toContain('a\\|b &lt;c> \\*d\\* \\`e\\` \\\\f .SH EVIL');
  });
});

describe('groff', needs('groff'), () => {
  test('reads every man page without a warning', () => {
    for (const page of filesIn('man/')) {
      const { status, stderr } = spawnSync(
        'groff',
        ['-man', '-Tutf8', '-ww', '-b', '-z', fileURLToPath(new URL(page, ROOT))],
        { encoding: 'utf8' },
      );
      expect({ page, status, stderr }).toEqual({ page, status: 0, stderr: '' });
    }
  });

  test('prints flags with ASCII hyphens', () => {
    const page = fileURLToPath(new URL('man/gpucloud-instances.1', ROOT));
    const { stdout } = spawnSync('groff', ['-man', '-Tutf8', '-P-c', page], { encoding: 'utf8' });
    expect(stdout.replace(/.\u0008/g, '')).toContain('gpucloud instances stop trainer lab --wait');
  });
});
