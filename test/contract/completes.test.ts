import { describe, expect, test } from 'vitest';
import { type AnyCommand, about } from '../../src/command-line/command.ts';
import {
  decidedForArgument,
  decidedForFlag,
  valueOfArgument,
  valueOfFlag,
} from '../../src/command-line/reference/completion-values.ts';
import { commandsOf } from '../../src/command-line/reference/index.ts';
import { tree } from './tree.ts';

/** Lists the arguments and flags without a decision about their suggestions. */
function undecided(command: AnyCommand): string[] {
  return [
    ...command.registeredArguments
      .filter((argument) => decidedForArgument(command, argument) === undefined)
      .map((argument) => argument.name()),
    ...command.options
      .filter((option) => !option.hidden && decidedForFlag(command, option) === undefined)
      .map((option) => option.flags),
  ];
}

const COMMANDS = (function below(
  command: AnyCommand,
  words: string[] = [],
): [string, AnyCommand][] {
  const shown = command.createHelp().visibleCommands(command);
  return [
    [words.join(' ') || 'gpucloud', command],
    ...shown.flatMap((next) => below(next, [...words, next.name()])),
  ];
})(tree);

describe('the Tab completion of each argument and flag', () => {
  test.each(COMMANDS)('finds a Tab completion for %s', (_words, command) => {
    expect(
      undecided(command),
      'say in the `completes` of the verb what is offered: names, words, a file or "nothing" (see src/command-line/command.ts)',
    ).toEqual([]);
  });

  test('reports an argument without a declared completion', () => {
    const list = COMMANDS.find(([words]) => words === 'instances list')?.[1];
    if (list === undefined) throw new Error('there is no such command');
    const copy = list.createCommand('copy').argument('<thing>').option('--shade <shade>');
    expect(undecided(copy)).toEqual(['thing', '--shade <shade>']);
  });
});

/** What neither the reference nor the golden names hold: types, completions, columns and tool. */
function factsOf([words, command]: (typeof COMMANDS)[number]): string[] {
  if (command.commands.length > 0) return [];
  const [facts] = commandsOf(command, tree);
  const { view } = about(command);
  const values = [
    ...command.registeredArguments.map((argument, at) => [
      argument.name(),
      facts?.arguments[at]?.type,
      valueOfArgument(command, argument),
    ]),
    ...command.options.map((option) => [
      option.long,
      facts?.flags.find(({ long }) => long === option.long)?.type,
      valueOfFlag(command, option),
    ]),
  ];
  const columns = view?.columns.map(({ header, kind, hidden, spared, whole, least }) =>
    [header, kind, hidden && 'hidden', spared && 'spared', whole && 'whole', least]
      .filter((word) => word !== undefined)
      .join(' '),
  );
  return [
    `\n${words}: ${JSON.stringify(facts?.tool)}`,
    // Neither global flags, which all commands share, nor switches.
    ...values.flatMap(([name, type, value]) =>
      type === undefined || value === undefined ? [] : `  ${name} ${type} ${JSON.stringify(value)}`,
    ),
    ...(view === undefined ? [] : [`  ${columns?.join(', ')}; ${view.empty}`]),
  ];
}

test('keeps the types, completions, columns and tool of every command', async () => {
  const text = COMMANDS.flatMap(factsOf).join('\n');
  await expect(`${text.trim()}\n`).toMatchFileSnapshot('facts.txt');
});
