import { formatOf, type GlobalFlags, type Host } from '../context.ts';
import { usageError } from '../errors.ts';
import { FORMATS } from '../output/output.ts';
import { baseUrl } from '../rules/service.ts';
import { positiveDuration } from '../rules/times.ts';
import { type AnyCommand, Option } from './command.ts';
import { GLOBAL_HEADING } from './help.ts';
import { checkedAddress, commaList, oneOf, ruled } from './parse.ts';

const COLOURS = ['auto', 'always', 'never'] as const;

interface GlobalFlag {
  /** In commander's format: `-o, --output <format>`. */
  readonly flags: string;
  readonly about: string;
  readonly parser?: (text: string) => unknown;
}

/** Lists these variables only in the help, since commander would read the real environment. */
export function globals(): readonly GlobalFlag[] {
  return [
    { flags: '--profile <name>', about: 'use this profile (env: GPUCLOUD_PROFILE)' },
    {
      flags: '--base-url <url>',
      about: 'use this base URL (env: GPUCLOUD_BASE_URL)',
      parser: (text) => checkedAddress('--base-url', text, baseUrl),
    },
    {
      flags: '-o, --output <format>',
      about: `print as ${FORMATS.join(', ')} (env: GPUCLOUD_OUTPUT)`,
      parser: oneOf('--output', FORMATS),
    },
    { flags: '--json', about: 'same as -o json' },
    {
      flags: '-q, --quiet',
      about: 'print only IDs, one per line, without notes; same as -o id',
    },
    {
      flags: '--columns <ids>',
      about: 'show these columns, separated by commas',
      parser: commaList('--columns'),
    },
    {
      flags: '--sort <column>',
      about: 'sort rows by this column; -column reverses the order',
    },
    { flags: '--query <jmespath>', about: 'filter the JSON result with a JMESPath expression' },
    { flags: '--no-header', about: 'omit the header of tables, csv and tsv' },
    { flags: '--csv-safe', about: 'write formulas in csv as text, for spreadsheets' },
    {
      flags: '--color <when>',
      about: `use colours: ${COLOURS.join(', ')}`,
      parser: oneOf('--color', COLOURS),
    },
    { flags: '--no-color', about: 'same as --color never' },
    { flags: '--no-input', about: 'never prompt (env: GPUCLOUD_NO_INPUT)' },
    { flags: '-y, --yes', about: 'answer yes to every confirmation' },
    {
      flags: '--timeout <duration>',
      about: 'time limit for each request (default: 60s)',
      parser: ruled('--timeout', positiveDuration),
    },
    { flags: '--debug', about: 'print requests and responses, with secrets masked' },
    {
      flags: '--show-secrets',
      about: 'show passwords, tokens and environment values',
    },
  ];
}

/**
 * Adds the flags that work everywhere. Each level declares them and enables positional options, so
 * that a verb's value is never parsed as a root flag.
 */
export function addGlobalOptions(command: AnyCommand): void {
  for (const { flags, about, parser } of globals()) {
    const option = new Option(flags, about).helpGroup(GLOBAL_HEADING);
    command.addOption(parser === undefined ? option : option.argParser(parser));
  }
}

/**
 * Whether a flag sets the format. A format from the environment is only a default, dropped if it
 * can't apply.
 */
export function isFormatGiven({ output, json, quiet }: GlobalFlags): boolean {
  return output !== undefined || json === true || quiet === true;
}

/**
 * Reads the global flags from a command and its parents; the nearest wins. With `--watch` and
 * `--follow`, JSON becomes one line per change or event, since an array would never be closed.
 */
export function flagsFor(command: AnyCommand, host: Pick<Host, 'stdout' | 'env'>): GlobalFlags {
  const flags: GlobalFlags & Record<string, unknown> = {};
  for (let at: AnyCommand | null = command; at !== null; at = at.parent) {
    for (const option of at.options) {
      const name = option.attributeName();
      const isGlobal = option.helpGroupHeading === GLOBAL_HEADING;
      if (isGlobal && !(name in flags) && at.getOptionValueSource(name) === 'cli') {
        flags[name] = at.getOptionValue(name);
      }
    }
  }
  const { watch, follow } = command.opts();
  if (watch !== true && follow !== true) return flags;
  const format = formatOf(flags, host.env);
  const isView = format === 'table' && host.stdout.isTTY === true;
  if (watch === true && flags.sort !== undefined && !isView) {
    throw usageError('--sort with --watch needs a terminal and the table format');
  }
  if (format !== 'json') return flags;
  const { json: _json, ...others } = flags;
  return { ...others, output: 'jsonl' };
}
