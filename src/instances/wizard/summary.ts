import type { CreateInstanceFields } from '../../api/index.ts';
import { type CatalogEntry, fitting, slug } from '../../catalog/index.ts';
import type { Context } from '../../context.ts';
import { shellLine } from '../../output/shell-line.ts';
import { paragraph } from '../../output/width.ts';
import type { Prompts } from '../../prompts/prompts.ts';
import { shown } from '../../prompts/words.ts';
import type { Port } from '../../rules/container.ts';
import { inRoubles, kopecksText, type Money, money, roublesText } from '../../rules/money.ts';
import { type DeadlineFlags, deadlineWords, wantedText } from '../deadlines/deadline.ts';
import type { CreateFlags, MadeRequest } from '../request/body.ts';
import { knownPrice } from '../request/hardware.ts';
import type { Lists } from './lists.ts';

/** What a person asked for, before the questions. */
export interface Wish {
  readonly flags: CreateFlags;
  /** What `--file` says. */
  readonly manifest: CreateInstanceFields;
  readonly maxPrice: Money | undefined;
  readonly ends: DeadlineFlags;
  readonly dryRun: boolean;
  /** A status, or `ssh`. */
  readonly until: string;
}

interface Row {
  readonly label: string;
  readonly text: string | undefined;
}

interface Summary {
  readonly made: MadeRequest;
  readonly wish: Wish;
  /** The flags that the answers stand for. */
  readonly answered: CreateFlags;
  readonly rows: readonly Row[];
  readonly lists: Lists;
}

/** Shows all that is rented, and the command that does the same without questions. */
export function showRequest(summary: Summary, prompts: Prompts, context: Context): void {
  const { made, wish, answered, rows } = summary;
  const name = wish.flags.name ?? made.body.instance_name;
  const typed = { ...wish.flags, name, ...answered };
  prompts.print('');
  prompts.print(wish.dryRun ? 'This would be rented:' : 'To be rented, and billed from then on:');
  showRows([...rows, ...moneyRows(summary, context)], prompts, context.host.stderr.columns);
  prompts.print('');
  prompts.print('The same without questions:');
  prompts.print(`  ${commandLine(typed, summary, context)}`);
  const variables = variablesOf(typed);
  if (variables.length > 0) {
    prompts.print(
      `  with ${variables.join(', ')} in the environment: values are not repeated here`,
    );
  }
  prompts.print('');
}

function moneyRows({ made: { offer }, wish, lists }: Summary, { clock }: Context): Row[] {
  const { known } = offer;
  const { maxPrice } = wish;
  const ends = wantedText(wish.ends);
  const { balance } = lists;
  const unseen = known?.name ? `: no machine of ${known.name} was seen here yet` : '';
  const [have, hour] = [money(balance ?? ''), money(known?.price_per_hour ?? '')];
  // An hour is reserved before anything runs.
  const isShort = have.ok && hour.ok && have.value.lt(hour.value);
  return [
    {
      label: 'Price',
      text:
        knownPrice(offer, clock.now()) ??
        `unknown until it is created${unseen}; --max-price RUB sets a limit`,
    },
    {
      label: 'Limit',
      text:
        maxPrice &&
        `an instance that costs more than ${inRoubles(maxPrice)} per hour is terminated at once`,
    },
    { label: 'Deadline', text: ends && `terminated ${ends}` },
    {
      label: 'Balance',
      text:
        balance &&
        `${roublesText(balance)}${isShort ? ', less than an hour cost when last seen: expect a refusal' : ''}`,
    },
  ];
}

/** No line is hard to read, however wide the terminal is. */
const WIDEST = 100;
const USUAL = 80;
/** Narrower than this, breaking makes more lines than sense. */
const NARROWEST = 20;

/** Labels and texts in two columns, each text folded within its own. */
function showRows(rows: readonly Row[], prompts: Prompts, columns: number | undefined): void {
  const present = rows.flatMap(({ label, text }) => (text === undefined ? [] : [{ label, text }]));
  const edge = Math.max(...present.map(({ label }) => label.length)) + 4;
  const room = Math.max(Math.min(columns || USUAL, WIDEST) - edge - 1, NARROWEST);
  for (const { label, text } of present) {
    for (const [at, line] of paragraph(shown(text), room).entries()) {
      prompts.print(`  ${(at === 0 ? label : '').padEnd(edge - 2)}${line}`);
    }
  }
}

/** As much as anybody types of a name. */
const TYPED = 64;

interface Named {
  readonly id: string;
  readonly name?: string | null | undefined;
}

function nameFor(id: string, all: readonly Named[]): string {
  const name = all.find((one) => one.id === id)?.name;
  const same = all.filter((other) => other.name === name || other.id === name);
  return name && name.length <= TYPED && same.length <= 1 ? name : id;
}

function entryName(id: string, all: readonly CatalogEntry[]): string {
  const name = all.find((one) => one.id === id)?.name ?? '';
  const names = [slug(name), name].filter((one) => one !== '');
  return names.find((one) => fitting(one, all).every((entry) => entry.id === id)) ?? id;
}

/** Names stand in place of ids if a name means the very same thing. Values of variables stay out. */
function commandLine(flags: CreateFlags, { wish, lists }: Summary, context: Context): string {
  const { until, maxPrice, ends } = wish;
  const { catalog, sshKeys = [], templates = [], drives = [] } = lists;
  const { offer, image, template, drive } = flags;
  const slugs = templates.map(({ id, slug: name }) => ({ id, name }));
  return shellLine([
    'gpucloud',
    ...flag('--profile', context.flags.profile),
    ...flag('--base-url', context.flags.baseUrl),
    'instances',
    'create',
    ...(flags.name === undefined ? [] : [flags.name]),
    ...flag('--file', flags.file),
    ...flag('--offer', offer && entryName(offer, catalog.offer)),
    ...flag('--image', image && entryName(image, catalog.image)),
    ...flag('--ssh-key', ...(flags.sshKey ?? []).map((id) => nameFor(id, sshKeys))),
    ...flag('--template', template && nameFor(template, slugs)),
    ...flag('--drive', drive && nameFor(drive, drives)),
    ...flag('--docker-image', flags.dockerImage),
    ...flag('--docker-command', flags.dockerCommand),
    ...flag('--shm-size', flags.shmSize?.toString()),
    ...flag('--port', ...(flags.port ?? []).map(portText)),
    ...flag('--env-file', ...(flags.envFile ?? [])),
    ...flag('--env', ...variablesOf(flags)),
    ...(flags.anyEnvKey === true ? ['--any-env-key'] : []),
    ...flag(
      '--volume',
      ...(flags.volume ?? []).map((one) => `${one.host_path}:${one.container_path}`),
    ),
    ...flag('--max-price', maxPrice && kopecksText(maxPrice)),
    ...deadlineWords(ends),
    until === 'ssh' ? '--wait=ssh' : '--wait',
  ]);
}

/** The names of the variables whose values the command takes from the environment. */
function variablesOf({ env = [] }: CreateFlags): string[] {
  return [...new Set(env.map((variable) => variable.split('=')[0] ?? ''))];
}

/** A value that starts with a hyphen would be read as a flag of its own. */
function flag(name: string, ...values: readonly (string | undefined)[]): string[] {
  return values.flatMap((value) => {
    if (value === undefined) return [];
    return value.startsWith('-') ? [`${name}=${value}`] : [name, value];
  });
}

function portText({ external_port, internal_port, protocol, name, is_main }: Port): string {
  return [
    `${external_port}:${internal_port}${protocol === 'UDP' ? '/udp' : ''}`,
    ...(name === undefined ? [] : [`name=${name}`]),
    ...(is_main === true ? ['main'] : []),
  ].join(',');
}
