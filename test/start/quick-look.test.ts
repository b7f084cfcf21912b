import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COMMANDS, prepare, recipe } from '../contract/tree.ts';
import { outcomeOf, PROGRAM } from '../support/program.ts';

// What is plainly as documented is not looked at by zod, which takes milliseconds to load: the files
// of the program, the answers to each operation, and what is sent.

/** Says at the end whether a part with zod in it was compiled. */
const TELL = `
const vm = require('node:vm');
let zod = false;
vm.Script = class extends vm.Script {
  constructor(source, how) {
    super(source, how);
    zod ||= source.includes('"$ZodString"');
  }
};
process.on('exit', () => require('node:fs').writeSync(2, '\\nzod: ' + zod + '\\n'));
`;

/** They serve the sandbox, whose own room checks with zod. */
const SERVING = /^sandbox /;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-quick-'));
  await writeFile(join(folder, 'tell.cjs'), TELL);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function usesZod(command: string): Promise<boolean> {
  const { kitchen, argv, stdin, env } = await prepare(command);
  try {
    const child = spawn(process.execPath, [PROGRAM, ...argv], {
      env: {
        PATH: process.env.PATH,
        HOME: kitchen.home,
        ...kitchen.env,
        ...env,
        NODE_OPTIONS: `--require ${join(folder, 'tell.cjs')}`,
      },
      cwd: kitchen.home,
    });
    const { code, stderr } = await outcomeOf(child, stdin);
    expect(recipe(command).ends ?? [0], stderr).toContain(code);
    expect(stderr).toMatch(/^zod: (?:true|false)$/m);
    return /^zod: true$/m.test(stderr);
  } finally {
    await kitchen.close();
  }
}

test.each(COMMANDS.filter((command) => !SERVING.test(command)))(
  '%s loads no zod',
  async (command) => {
    expect(await usesZod(command)).toBe(false);
  },
);

test('it would be seen', async () => {
  expect(await usesZod('sandbox status')).toBe(true);
});
