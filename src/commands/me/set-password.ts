import type { SetPasswordBody } from '../../api/index.ts';
import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { readStdin } from '../../cli/input.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { profileView } from './view.ts';

export function registerSetPassword(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: profileView,
    notes:
      'Asks for the current password and twice for the new one. With --stdin it reads two lines:\n' +
      'the current password and the new one. A password is never taken from the command line, where\n' +
      'other programs and the history of the shell would see it.',
    completes: { words: 'nothing' },
    examples: [
      'gpucloud me set-password',
      'printf "%s\\n%s\\n" "$OLD" "$NEW" | gpucloud me set-password --stdin',
    ],
  })
    .option('--stdin', 'read the current and the new password from stdin, a line each')
    .usage('[options]')
    // Taken so that they can be refused in words of our own: commander repeats what it refuses.
    .argument('[words...]', 'refused: no password is taken from the command line')
    .allowUnknownOption()
    .action((words, { stdin }, command) => {
      if (words.length > 0) {
        throw usageError(
          'set-password takes no arguments and no flag with a password: it asks for passwords, or reads them with --stdin (what was given is not shown)',
        );
      }
      return setPassword(stdin === true, frame.context(command));
    });
}

export async function setPassword(fromStdin: boolean, context: Context): Promise<void> {
  const body = fromStdin ? await readPasswords(context) : await askPasswords(context);
  const user = await (await context.api()).users.setPassword(body);
  context.err.note('The new password is set.');
  await context.out.item(user, profileView);
}

/** The document gives no rules of strength, so that the service alone judges the new password. */
function filled(text: string): string | undefined {
  return text.trim() === '' ? 'a password is not empty' : undefined;
}

async function askPasswords(context: Context): Promise<SetPasswordBody> {
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError(
      'passwords are asked for and nobody can be asked here: use --stdin with two lines, the current password and the new one',
    );
  }
  const current = await prompts.secret('Current password?', filled);
  const next = await prompts.secret('New password?', filled);
  await prompts.secret('New password again?', (text) =>
    text === next ? undefined : 'the two are not the same',
  );
  return { current_password: current, new_password: next };
}

async function readPasswords(context: Context): Promise<SetPasswordBody> {
  if (context.stdin.isTTY === true) {
    throw usageError(
      '--stdin reads a pipe or a file: on a terminal the passwords would be seen; leave it out to be asked',
    );
  }
  const text = await readStdin('--stdin', context);
  const [current, next, ...others] = text.replace(/\r?\n$/, '').split(/\r?\n/);
  if (current === undefined || next === undefined || others.length > 0) {
    throw usageError(
      '--stdin: it is two lines, the current password and the new one (what was given is not shown)',
    );
  }
  const rule = filled(current) ?? filled(next);
  if (rule !== undefined) {
    throw usageError(`--stdin: ${rule}`);
  }
  return { current_password: current, new_password: next };
}
