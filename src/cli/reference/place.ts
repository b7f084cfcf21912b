import type { Flag, Offer, Place } from '../../completion/tree.ts';
import type { AnyCommand } from '../command.ts';
import { offerOfArgument, offerOfFlag } from './offers.ts';

const HELP: Flag = { names: ['--help', '-h'], help: 'show this help' };

/** Converts the command tree to data for completion. Offers only what the help shows. */
export function placeOf(command: AnyCommand, path: readonly string[] = []): Place {
  const helper = command.createHelp();
  const args = command.registeredArguments;
  return {
    path,
    aliases: command.aliases(),
    summary: command.summary(),
    flags: [
      ...command.options
        .filter((option) => !option.hidden)
        .map((option) => flagOf(command, option)),
      HELP,
    ],
    takes: args.map((argument) => offerOfArgument(command, argument)),
    repeats: args.at(-1)?.variadic === true,
    below: helper.visibleCommands(command).map((below) => placeOf(below, [...path, below.name()])),
  };
}

function flagOf(command: AnyCommand, option: AnyCommand['options'][number]): Flag {
  const { long, short, description } = option;
  const names = [long, short].filter((name) => name !== undefined);
  const value: Offer | undefined = offerOfFlag(command, option);
  return {
    names: [names[0] ?? option.flags, ...names.slice(1)],
    help: description,
    ...(value === undefined ? {} : { value }),
    ...(option.optional ? { optional: true } : {}),
  };
}
