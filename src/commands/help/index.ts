import { usageError } from '../../errors.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { TOPICS } from '../kit/topics.ts';
import { describe } from '../kit/verb.ts';

/** `gpucloud help instances create`: the same as `gpucloud instances create --help`; and topics. */
export function registerHelp(command: AnyCommand, frame: Frame): void {
  describe(command, {
    summary: 'Help for any command, and some topics',
    notes: `Topics:\n${topicLines()}`,
    examples: ['gpucloud help', 'gpucloud help instances create', 'gpucloud help exit-codes'],
    completes: { command: { topics: TOPICS.map(({ name }) => name) } },
  })
    .argument('[command...]', 'the words of a command, or a topic')
    .action(async (words: string[], _flags, own) => {
      const topic = TOPICS.find(({ name }) => words.length === 1 && words[0] === name);
      if (topic === undefined) {
        find(await frame.wholeTree(), words).outputHelp();
        return;
      }
      const { textOf } = await import('./topics.ts');
      await frame.context(own).out.text(textOf(topic.name));
    });
}

function topicLines(): string {
  const width = Math.max(...TOPICS.map(({ name }) => name.length));
  return TOPICS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n');
}

/** A word that is no command would otherwise be answered with the help of its parent. */
function find(root: AnyCommand, words: readonly string[]): AnyCommand {
  let at = root;
  for (const word of words) {
    const next = at.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) {
      throw usageError(
        `help: there is no command "${words.join(' ')}"`,
        `gpucloud --help lists them; the topics are ${TOPICS.map(({ name }) => name).join(', ')}`,
      );
    }
    at = next;
  }
  return at;
}
