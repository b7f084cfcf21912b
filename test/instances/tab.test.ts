import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSandboxWorld, type SandboxWorld } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';

let world: SandboxWorld;
beforeEach(async () => {
  world = await createSandboxWorld();
});
afterEach(() => world.close());

/** Returns the names that Tab suggests: the first line of the names file. */
async function offered(kind: 'instance' | 'terminated'): Promise<string[]> {
  const folder = join(world.home, 'state', 'cache', 'completion', 'names', '-env');
  const text = await readFile(join(folder, `${kind}.tsv`), 'utf8').catch(() => '');
  const [head = ''] = text.split('\n');
  return head.split('\t').slice(1);
}

async function create(name: string): Promise<string> {
  const { stdout } = await world.cli(['instances', 'create', name, ...HARDWARE, '-q']);
  return stdout.trim();
}

const terminate = (name: string) =>
  world.cli(['instances', 'terminate', name, '--yes', '--wait', '-q']);

describe('Tab', () => {
  test('completes terminated instances only for reorder, even after a later list', async () => {
    await create('first');
    await create('second');
    await terminate('first');
    for (const argv of [[], ['--all'], []]) {
      await world.cli(['instances', 'list', ...argv]);
      expect(await offered('instance')).toEqual(['second']);
      expect(await offered('terminated')).toEqual(['first']);
    }
  });

  test('completes the ID of a terminated instance if a live one has its name', async () => {
    const id = await create('trainer');
    await terminate('trainer');
    await create('trainer');
    expect(await offered('instance')).toEqual(['trainer']);
    expect(await offered('terminated')).toEqual([id]);
  });

  test('does not complete an untracked instance, even after list --all', async () => {
    await create('kept');
    const id = await create('dropped');
    await world.cli(['instances', 'untrack', id, '--yes']);
    expect(await offered('instance')).toEqual(['kept']);
    await world.cli(['instances', 'list', '--all']);
    expect(await offered('instance')).toEqual(['kept']);
  });
});
