import type { Context } from '../../context.ts';
import { commandLines } from '../../output/shell-line.ts';
import { labelledText } from '../../output/table/layout.ts';
import { paragraph } from '../../output/width.ts';
import type { Prompts } from '../../prompts/prompts.ts';
import { shown } from '../../prompts/words.ts';
import type { Port } from '../../rules/container.ts';
import {
  inRoubles,
  kopecksText,
  type Money,
  money,
  priceIn,
  roublesText,
} from '../../rules/money.ts';
import { durationWord } from '../../rules/times.ts';
import {
  type CheckedEnds,
  deadlineWords,
  isRescueWanted,
  wantedText,
} from '../deadlines/deadline.ts';
import type { MadeRequest } from '../rent/body.ts';
import type { CreateFlags, Given } from '../rent/given.ts';
import { knownPrice } from '../rent/hardware.ts';
import { laterText } from '../rent/planned.ts';

/** The values known before the questions. */
export interface Wish {
  readonly given: Given;
  readonly maxPrice: Money | undefined;
  readonly ends: CheckedEnds;
  readonly dryRun: boolean;
  /**
   * The number of instances, named NAME-1, NAME-2 and so on. Undefined for a single instance named
   * NAME.
   */
  readonly count?: number | undefined;
  /**
   * Whether the instance is for `run`. It needs a key that signs in from this computer, and no
   * template or drive.
   */
  readonly isJob: boolean;
  /** What `run` copies back from the instance. */
  readonly copyOut?: string;
  /** Whether `--identity` names the private key. Any key of the account may then fit. */
  readonly hasIdentity: boolean;
  /** The command line without the flags of the request. */
  readonly command: {
    start(name: string | undefined): readonly string[];
    end(flags: CreateFlags): readonly (readonly string[])[];
  };
}

interface Row {
  readonly label: string;
  readonly text: string;
}

export function moneyRows(
  { offer, offers }: MadeRequest,
  { maxPrice, ends, copyOut, count = 1 }: Wish,
  balance: string | undefined,
  context: Context,
): Row[] {
  const have = money(balance ?? '');
  const hour = priceIn(offer.known?.price_per_hour);
  // The service reserves the price of an hour before anything runs.
  const isShort = have.ok && hour !== undefined && have.value.lt(hour.times(count));
  const lacks = isShort ? ', less than the last known price of an hour' : '';
  const [times, each] = count > 1 ? [`${count} × `, ' each'] : ['', ''];
  const price = knownPrice(offer, context.clock.now());
  const deadline = wantedText(ends);
  const later = laterText(ends, { offers, maxPrice, count }, context);
  const unknown = `unknown until created${maxPrice ? '' : '; --max-price RUB sets a limit'}`;
  const rows = {
    Price: price === undefined ? unknown : `${times}${price}`,
    Limit: maxPrice && `terminated at once above ${inRoubles(maxPrice)} per hour${each}`,
    Deadline: deadline
      ? `terminated ${deadline}${later === undefined ? '' : `. ${later}`}`
      : 'none: it bills until you terminate it; --terminate-after sets one',
    Rescue: isRescueWanted(ends) ? `${ends.rescue?.join(', ')} before it ends` : undefined,
    'Copy out': copyOut,
    Balance: balance && `${roublesText(balance)}${lacks}`,
  };
  return Object.entries(rows).flatMap(([label, text]) => (text ? [{ label, text }] : []));
}

/** Longer lines are hard to read, even on a wide terminal. */
const WIDEST = 100;
const USUAL = 80;
/** In a narrower column, text would wrap too often. */
const NARROWEST = 20;

/** Formats labels and texts in two columns. Each text wraps within its column. */
export function printRows(rows: readonly Row[], prompts: Prompts, { host }: Context): void {
  const cells = Math.min(host.stderr.columns || USUAL, WIDEST) - 1;
  const indented = rows.map(({ label, text }) => ({
    label: `  ${label}`,
    lines: (room: number) => paragraph(shown(text), Math.max(room, NARROWEST)),
  }));
  for (const line of labelledText(indented, cells).trimEnd().split('\n')) prompts.print(line);
}

/** Prints the command with these flags. Omits the values of variables. */
export function printCommand(
  flags: CreateFlags,
  { maxPrice, ends, command }: Wish,
  prompts: Prompts,
  context: Context,
): void {
  const variables = [...new Set((flags.env ?? []).flatMap((one) => one.split('=', 1)))];
  const { offer, image, template, drive, volume = [] } = flags;
  const words = [
    ['gpucloud', ...flag('--profile', context.flags.profile).flat()],
    ...flag('--base-url', context.flags.baseUrl),
    command.start(flags.name),
    ...flag('--file', flags.file),
    ...flag('--offer', ...(offer ?? [])),
    ...(flags.retryFor === undefined ? [] : [['--retry-for', durationWord(flags.retryFor)]]),
    ...flag('--image', image),
    ...(flags.sshKey?.length === 0
      ? [['--no-ssh-key']]
      : flag('--ssh-key', ...(flags.sshKey ?? []))),
    ...flag('--template', template),
    ...flag('--drive', drive),
    ...flag('--docker-image', flags.dockerImage),
    ...flag('--docker-command', flags.dockerCommand),
    ...flag('--shm-size', flags.shmSize?.toString()),
    ...flag('--port', ...(flags.port ?? []).map(portText)),
    ...flag('--env-file', ...(flags.envFile ?? [])),
    ...flag('--env', ...variables),
    ...(flags.anyEnvKey === true ? [['--any-env-key']] : []),
    ...flag('--volume', ...volume.map((one) => `${one.host_path}:${one.container_path}`)),
    ...flag('--max-price', maxPrice && kopecksText(maxPrice)),
    deadlineWords(ends),
    ...command.end(flags),
  ];
  const pieces = words.filter(({ length }) => length > 0);
  for (const line of commandLines(pieces, context.host.stderr.columns)) prompts.print(`  ${line}`);
  if (variables.length > 0) {
    prompts.print(`Set ${variables.join(', ')} in the environment first.`);
  }
}

/** Joins a value to its flag if it starts with a hyphen and would be parsed as another flag. */
export function flag(name: string, ...values: readonly (string | undefined)[]): string[][] {
  return values.flatMap((value) => {
    if (value === undefined) return [];
    return value.startsWith('-') ? [[`${name}=${value}`]] : [[name, value]];
  });
}

function portText({ external_port, internal_port, protocol, name, is_main }: Port): string {
  return [
    `${external_port}:${internal_port}${protocol === 'UDP' ? '/udp' : ''}`,
    ...(name === undefined ? [] : [`name=${name}`]),
    ...(is_main === true ? ['main'] : []),
  ].join(',');
}
