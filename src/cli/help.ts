import type { Argument } from '@commander-js/extra-typings';
import { type AnyCommand, Help, type Option } from './command.ts';

/** The heading under which the help gathers the flags that every command has. */
export const GLOBAL_HEADING = 'Global options:';

/** An argument as help shows it: `<instance>`, `[name]`, `<instance...>`. */
export function argumentTerm(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** Commander's help with what is the command's own first and the flags of every command last. */
export const helpStyle: Partial<Help> = {
  formatHelp(command: AnyCommand, helper: Help): string {
    const text = Help.prototype.formatHelp.call(helper, command, helper);
    const section = new RegExp(`^${GLOBAL_HEADING}\n(?:.+\n)+\n?`, 'm').exec(text)?.[0] ?? '';
    return `${text.replace(section, '').trimEnd()}\n${section === '' ? '' : `\n${section.trimEnd()}\n`}`;
  },

  /** An optional value follows `=` alone, see StrictCommand: `--wait[=target]`. */
  optionTerm(option: Option): string {
    return option.optional ? option.flags.replace(/ \[(.+)]$/, '[=$1]') : option.flags;
  },

  /** `create [name]`: other words for a command and the mark of its flags are left to its own help. */
  subcommandTerm(command: AnyCommand): string {
    // The root lists groups and verbs alike by their names.
    if (command.parent?.parent === null) {
      return command.name();
    }
    return [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' ');
  },
};

/** Pages of help that belong to no command: `gpucloud help exit-codes`. */
export const TOPICS = [
  { name: 'exit-codes', summary: 'What each exit code means' },
  { name: 'environment', summary: 'The variables that are read' },
  { name: 'output', summary: 'Formats, columns and queries, and what goes to which stream' },
  { name: 'scripting', summary: 'What a script can rely on' },
] as const;
export type Topic = (typeof TOPICS)[number]['name'];
