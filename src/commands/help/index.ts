import type { AnyCommand } from '../../cli/command.ts';
import { undocumentedError } from '../../cli/group.ts';
import { TOPICS } from '../../cli/help.ts';
import { action } from '../../cli/verb.ts';
import { type CliError, usageError } from '../../errors.ts';
import { textOf } from './topics.ts';

/** `gpucloud help instances create`: the same as `gpucloud instances create --help`; and topics. */
export const help = action({
  notes: `Topics:\n${topicLines()}`,
  examples: ['gpucloud help', 'gpucloud help instances create', 'gpucloud help exit-codes'],
  completes: { command: { topics: TOPICS.map(({ name }) => name) } },
  takes: (command) => command.argument('[command...]', 'the words of a command, or a topic'),
  async run(context, words, _flags, { runtime }) {
    const topic = TOPICS.find(({ name }) => words.length === 1 && words[0] === name);
    if (topic === undefined) {
      find(await runtime.wholeTree(), words).outputHelp();
    } else {
      await context.out.text(textOf(topic.name));
    }
  },
});

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
      throw unknown(root, words);
    }
    at = next;
  }
  const missing = undocumentedError(at);
  if (missing !== undefined) {
    throw missing;
  }
  return at;
}

/** Who leaves the group out is told where the verb is; `reboot` is in none, and says so. */
function unknown(root: AnyCommand, words: readonly string[]): CliError {
  const [word = '', ...more] = words;
  const paths = (more.length > 0 ? [] : root.commands).flatMap((group) =>
    group.commands
      .filter((verb) => verb.name() === word || verb.aliases().includes(word))
      .map((verb) => ({
        path: `${group.name()} ${verb.name()}`,
        missing: undocumentedError(verb),
      })),
  );
  const [first] = paths;
  if (first?.missing !== undefined && paths.length === 1) {
    return first.missing;
  }
  const real = paths.filter(({ missing }) => missing === undefined).map(({ path }) => path);
  return usageError(
    `help: there is no command "${words.join(' ')}"`,
    real.length > 0
      ? `did you mean ${real.map((path) => `gpucloud help ${path}`).join(' or ')}?`
      : `gpucloud --help lists them; the topics are ${TOPICS.map(({ name }) => name).join(', ')}`,
  );
}
