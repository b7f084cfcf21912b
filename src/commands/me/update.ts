import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { ruled } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { anyName } from '../../rules/names.ts';
import { updatedView } from './view.ts';

export function registerUpdate(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: updatedView,
    notes: 'The answer also tells the available and the reserved funds.',
    completes: { '--name': 'nothing' },
    examples: ['gpucloud me update --name "Ann Lee"'],
  })
    .option('--name <name>', 'the new name', ruled('--name', anyName))
    .action(({ name }, command) => update(name, frame.context(command)));
}

export async function update(given: string | undefined, context: Context): Promise<void> {
  const name = given ?? (await askName(context));
  const user = await (await context.api()).users.update({ name });
  context.err.note(`The account is now named ${user.name ?? name}.`);
  await context.out.item(user, updatedView);
}

async function askName(context: Context): Promise<string> {
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError('nothing to change: give --name');
  }
  return prompts.text('New name?', {
    check: (text) => {
      const verdict = anyName(text);
      return verdict.ok ? undefined : verdict.rule;
    },
  });
}
