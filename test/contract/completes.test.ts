import { describe, expect, test } from 'vitest';
import type { AnyCommand } from '../../src/command-line/command.ts';
import {
  decidedForArgument,
  decidedForFlag,
} from '../../src/command-line/reference/completion-values.ts';
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
