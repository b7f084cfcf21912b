import type { GlobalFlags } from '../../context.ts';
import { FORMATS } from '../../output/output.ts';
import { baseUrl } from '../../rules/base-url.ts';
import { positiveDuration } from '../../rules/durations.ts';
import { type AnyCommand, Option } from './command.ts';
import { GLOBAL_HEADING } from './help.ts';
import { checkedAddress, commaList, oneOf, ruled } from './parse.ts';

const COLOURS = ['auto', 'always', 'never'] as const;

/**
 * Each call makes new options: commander writes into the objects that it is given. The variables
 * are named for the help only; commander would read the real environment, not the context's.
 */
function globalOptions(): Option[] {
  return [
    new Option('--profile <name>', 'the profile to use (env: GPUCLOUD_PROFILE)'),
    new Option('--base-url <url>', 'the address of the service (env: GPUCLOUD_BASE_URL)').argParser(
      (text) => checkedAddress('--base-url', text, baseUrl),
    ),
    new Option(
      '-o, --output <format>',
      `the form of the result: ${FORMATS.join(', ')} (env: GPUCLOUD_OUTPUT)`,
    ).argParser(oneOf('--output', FORMATS)),
    new Option('--json', 'the same as -o json'),
    new Option('-q, --quiet', 'the same as -o id: ids alone, one a line'),
    new Option('--columns <ids>', 'which columns to show, separated by commas').argParser(
      commaList('--columns'),
    ),
    new Option('--sort <column>', 'sort rows by a column; -column turns the order round'),
    new Option('--query <jmespath>', 'print what an expression finds in the JSON form'),
    new Option('--no-header', 'no head above tables, csv and tsv'),
    new Option('--color <when>', `colours: ${COLOURS.join(', ')}`).argParser(
      oneOf('--color', COLOURS),
    ),
    new Option('--no-color', 'the same as --color never'),
    new Option('--no-input', 'never ask anything (env: GPUCLOUD_NO_INPUT)'),
    new Option('-y, --yes', 'answer every confirmation with yes'),
    new Option(
      '--timeout <duration>',
      'the longest that one request may take (default: 60s)',
    ).argParser(ruled('--timeout', positiveDuration)),
    new Option('--debug', 'show requests and answers, with secrets replaced'),
    new Option('--show-secrets', 'show generated passwords, tokens and environment values'),
  ];
}

/**
 * Gives a command the flags that work everywhere. They are added at each level, and positional
 * options are on, so that a flag of the root can never be taken out of a verb's own values.
 * `but` names those in whose place a verb has a flag of its own, as `--timeout`.
 */
export function addGlobalOptions(command: AnyCommand, but: readonly string[] = []): void {
  for (const option of globalOptions()) {
    if (option.long !== undefined && but.includes(option.long)) {
      continue;
    }
    command.addOption(option.helpGroup(GLOBAL_HEADING));
  }
}

/** The global flags as given on a command or any of its parents; the nearest wins. */
export function globalFlagsOf(command: AnyCommand): GlobalFlags {
  const given: Record<string, unknown> = {};
  for (let at: AnyCommand | null = command; at !== null; at = at.parent) {
    for (const option of at.options) {
      const name = option.attributeName();
      const isGlobal = option.helpGroupHeading === GLOBAL_HEADING;
      if (isGlobal && !(name in given) && at.getOptionValueSource(name) === 'cli') {
        given[name] = at.getOptionValue(name);
      }
    }
  }
  return given;
}

/**
 * The first word that is neither one of these flags nor the value of one; undefined where there is
 * none, or an unknown flag stands before it.
 */
export function firstWord(words: readonly string[], flags: readonly Option[]): string | undefined {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) return word;
    const flag = flags.find(({ long, short }) => [long, short].includes(word.replace(/=.*/s, '')));
    if (flag === undefined) return undefined;
    if (flag.required && !word.includes('=')) at += 1;
  }
  return undefined;
}
