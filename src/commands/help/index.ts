import { TOPICS } from '../../cli/help.ts';
import { findCommand } from '../../cli/reference/find-command.ts';
import { action } from '../../cli/verb.ts';
import { topicText } from './topics.ts';

/**
 * `gpucloud help instances create` prints the same as `gpucloud instances create --help`. Also
 * prints topics.
 */
export const help = action({
  notes: `Topics:\n${topicLines()}`,
  examples: ['gpucloud help', 'gpucloud help instances create', 'gpucloud help exit-codes'],
  completes: { command: { topics: TOPICS.map(({ name }) => name) } },
  takes: (command) => command.argument('[command...]', 'a command or topic'),
  async run(context, words, _flags, { runtime }) {
    const topic = TOPICS.find(({ name }) => words.length === 1 && words[0] === name);
    if (topic === undefined) {
      const names = TOPICS.map(({ name }) => name).join(', ');
      const hint = `"gpucloud --help" lists the commands; the topics are ${names}`;
      findCommand(await runtime.wholeTree(), words, hint).outputHelp();
    } else {
      await context.out.text(topicText(topic.name));
    }
  },
});

function topicLines(): string {
  const width = Math.max(...TOPICS.map(({ name }) => name.length));
  return TOPICS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n');
}
