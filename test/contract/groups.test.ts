import { expect, test } from 'vitest';
import type { Group } from '../../src/cli/group.ts';
import { GROUPS, tree } from './tree.ts';

// The index defines the help of a group, and the verb defines its own help.
test.each(GROUPS)(
  'lists each verb of %s in the index with the arguments of the verb',
  async (name) => {
    const room: Record<string, object> = await import(`../../src/commands/${name}/index.ts`);
    // The folder may also export views.
    const group = Object.values(room).find((one): one is Group => 'verbs' in one);
    const verbs = tree.commands.find((one) => one.name() === name)?.commands ?? [];
    expect(group?.verbs.length).toBeGreaterThan(0);
    for (const { name: word, usage } of group?.verbs ?? []) {
      const verb = verbs.find((one) => one.name() === word);
      const args = verb?.registeredArguments.map((argument) => {
        const words = argument.variadic ? `${argument.name()}...` : argument.name();
        return argument.required ? `<${words}>` : `[${words}]`;
      });
      expect(usage ?? '', word).toBe(args?.join(' '));
    }
  },
);
