import { usageError } from '../../errors.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { describe } from '../kit/verb.ts';

/** `gpucloud help instances create`: the same as `gpucloud instances create --help`. */
export function registerHelp(command: AnyCommand, frame: Frame): void {
  describe(command, {
    summary: 'Help for any command',
    completes: { command: 'command' },
    examples: ['gpucloud help', 'gpucloud help instances create'],
  })
    .argument('[command...]', 'the words of a command')
    .action(async (words: string[]) => {
      find(await frame.wholeTree(), words).outputHelp();
    });
}

/** A word that is no command would otherwise be answered with the help of its parent. */
function find(root: AnyCommand, words: readonly string[]): AnyCommand {
  let at = root;
  for (const word of words) {
    const next = at.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) {
      throw usageError(
        `help: there is no command "${words.join(' ')}"`,
        'gpucloud --help lists them',
      );
    }
    at = next;
  }
  return at;
}
