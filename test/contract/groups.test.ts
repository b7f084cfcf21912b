import { expect, test } from 'vitest';
import { GROUPS, tree } from './tree.ts';

// A verb is found by the key under which its group has it, before its code is loaded: a key that
// does not tell all of its words would cost the other words the short way, and a wrong one the verb.
test.each(GROUPS)('%s: each verb stands under its own words', async (name) => {
  const group = tree.commands.find((one) => one.name() === name);
  const room = await import(`../../src/commands/${name}/index.ts`);
  const [exported] = Object.values(room) as [{ verbs: Record<string, unknown> }];
  const verbs = group?.createHelp().visibleCommands(group) ?? [];
  expect(verbs.length).toBeGreaterThan(0);
  expect(Object.keys(exported.verbs)).toEqual(
    verbs.map((verb) => [verb.name(), ...verb.aliases()].join(' ')),
  );
});
