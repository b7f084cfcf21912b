import { usageError } from '../../errors.ts';
import { type AnyCommand, isNamed } from '../command.ts';
import { foreignWord } from '../foreign-words.ts';

/** Finds a command or group in a whole tree. Shows `hint` if no name is similar. */
export function findCommand(root: AnyCommand, words: readonly string[], hint: string): AnyCommand {
  let at = root;
  for (const word of words) {
    const next = at.commands.find((one) => isNamed(one, word));
    if (next === undefined) {
      throw foreignWord(at === root ? '' : at.name(), word) ?? unknown(root, words, hint);
    }
    at = next;
  }
  return at;
}

/** Suggests groups for a verb that was typed without its group. */
function unknown(root: AnyCommand, words: readonly string[], hint: string) {
  const [word = ''] = words;
  const paths = root.commands.flatMap((group) =>
    group.commands
      .filter((verb) => isNamed(verb, word))
      .map((verb) => `"${group.name()} ${verb.name()}"`),
  );
  return usageError(
    `unknown command '${words.join(' ')}'`,
    paths.length === 0 ? hint : `did you mean ${paths.join(' or ')}?`,
  );
}
