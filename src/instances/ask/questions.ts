import type { SshKey } from '../../api/index.ts';
import {
  type CatalogEntry,
  fitting,
  type Kind,
  priceSeen,
  slug,
  stockSeen,
} from '../../catalog/index.ts';
import type { Context } from '../../context.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { titleOf } from '../../prompts/words.ts';
import { portClash, publishedPort } from '../../rules/container.ts';
import { roublesText } from '../../rules/money.ts';
import { isSameName, nameKey } from '../../rules/names.ts';
import { brokenName, numbered } from '../rent/count.ts';
import type { CreateFlags } from '../rent/given.ts';
import { brokenHardware } from '../rent/hardware.ts';
import { askKeys } from './keys.ts';
import { FIRST_WORDS, type Lists, SECOND_WORDS } from './lists.ts';

/** The user's answer to one question. */
export interface Answer {
  /** The flags for the answer, with names instead of IDs. */
  readonly flags: CreateFlags;
  /** The answer in the summary. */
  readonly text: string;
}

/** Label of the offer question. */
export const OFFER = 'Offer';

export interface Question {
  /** The label in the summary. */
  readonly label: string;
  /** The value from a flag or the file. If set, the question is skipped. */
  readonly given: string | undefined;
  /** Asks the question. `before` is the answer of an earlier round. */
  ask(before: Answer | undefined): Promise<Answer>;
}

/** Data for the questions. */
export interface Asking {
  readonly flags: CreateFlags;
  /** The profile's defaults, offered first. */
  readonly preferred: CreateFlags;
  readonly lists: Lists;
  /** IDs of refused offers. */
  readonly refused: ReadonlySet<string>;
  /**
   * Whether the instance is for a job. A job needs a key that signs in from this computer, and no
   * template or drive.
   */
  readonly isJob: boolean;
  readonly dryRun: boolean;
  /** The number of instances, named NAME-1, NAME-2 and so on. */
  readonly count: number | undefined;
  readonly prompts: Prompts;
  readonly context: Context;
}

export function questionsFor(asking: Asking): Question[] {
  const { flags, lists, isJob, count = 1, prompts } = asking;
  const { sshKey: keys, template, dockerImage: container, drive } = flags;
  const { dockerCommand, shmSize, port, env, envFile, volume } = flags;
  const parts = [dockerCommand, shmSize, port, env, envFile, volume];
  const isDescribed = parts.some((part) => part !== undefined);
  const runs = [template, container].filter(Boolean).join(' and ') || undefined;
  const all: (Question & { readonly isLeftOut?: boolean })[] = [
    { label: 'Name', given: flags.name, ask: (before) => askName(asking, before) },
    ...(['offer', 'image'] as const).map((kind) => ({
      label: kind === 'offer' ? OFFER : 'Image',
      given: flags[kind] && [flags[kind]].flat().join(', '),
      ask: (before: Answer | undefined) => askHardware(kind, asking, before),
    })),
    {
      label: 'SSH keys',
      given: keys && (keys.join(', ') || 'none'),
      // A list that can't be read offers no choices.
      isLeftOut: keys === undefined && lists.sshKeys === undefined,
      ask: (before) => askForKeys(asking, before),
    },
    {
      label: 'Runs',
      given: runs,
      isLeftOut: runs === undefined && isJob && !isDescribed,
      ask: (before) => (isDescribed ? askImage(prompts, before) : askRuns(asking, before)),
    },
    {
      label: 'Drive',
      given: drive,
      isLeftOut: drive === undefined && (isJob || count > 1 || lists.drives.length === 0),
      ask: (before) => askDrive(asking, before),
    },
  ];
  return all.filter(({ isLeftOut }) => isLeftOut !== true);
}

/** Doesn't suggest a longer name: it would be tedious to type. */
const LONGEST = 64;

interface Named {
  readonly id: string;
  readonly name?: string | null | undefined;
}

/** Returns an item's name if it is unique, otherwise its ID. */
function typedBy({ id, name }: Named, all: readonly Named[]): string {
  const same = all.filter((other) => other.name === name || other.id === name);
  return name && name.length <= LONGEST && same.length <= 1 ? name : id;
}

/** Asks for one item of a list. Defaults to the earlier answer. */
function choose<T extends Answer | 'other'>(
  question: string,
  choices: readonly Choice<T>[],
  prompts: Prompts,
  before: Answer | undefined,
): Promise<T> {
  const at = choices.findIndex(({ value }) => value !== 'other' && value.text === before?.text);
  return prompts.choose(question, choices, { initial: Math.max(0, at) });
}

async function askName(
  { lists: { names }, count, prompts, context }: Asking,
  before: Answer | undefined,
): Promise<Answer> {
  const all = (text: string) => (count === undefined ? [text] : numbered(text, count));
  const random = () => context.clock.random();
  const name = await prompts.text('Instance name', {
    initial:
      before?.text ??
      suggestedName((text) => all(text).some((one) => names.has(nameKey(one))), random),
    // Names are unique in the account (API document: Limits).
    check(text) {
      const broken = brokenName(text, count);
      if (broken !== undefined) return broken;
      const taken = all(text).find((one) => names.get(nameKey(one)) !== undefined);
      if (taken === undefined) return undefined;
      return `${taken === text ? '' : `${taken}: `}${names.get(nameKey(taken))}`;
    },
  });
  return { flags: { name }, text: name };
}

/** Suggests two easily typed words that are not a known instance's name. */
function suggestedName(isTaken: (name: string) => boolean, random: () => number): string {
  const one = (words: string) => {
    const all = words.split(' ');
    return all[Math.floor(random() * all.length)];
  };
  const base = `${one(FIRST_WORDS)}-${one(SECOND_WORDS)}`;
  let name = base;
  for (let number = 2; isTaken(name); number += 1) name = `${base}-${number}`;
  return name;
}

/** Asks for a known offer or image, or for its ID. */
async function askHardware(
  kind: Kind,
  { preferred, lists: { catalog }, refused, prompts }: Asking,
  before: Answer | undefined,
): Promise<Answer> {
  const entries = catalog[kind];
  const [usual = ''] = [preferred[kind] ?? []].flat();
  const [wanted] = fitting(usual, entries);
  const question = kind === 'offer' ? 'Offer (the hardware)' : 'Base image (the system)';
  const choices: Choice<Answer | 'other'>[] = sorted(entries, refused, wanted).map((entry) => {
    const { id, name, region } = entry;
    const names = [slug(name), name ?? ''].filter((one) => one !== '');
    const isUnique = (one: string) => fitting(one, entries).every((other) => other.id === id);
    return {
      name: titleOf(name, id),
      about: kind === 'offer' ? aboutOffer(entry, refused.has(id)) : [cudaOf(entry)],
      value: {
        flags: chosenFlags(kind, names.find(isUnique) ?? id),
        text: [titleOf(name, id), region, cudaOf(entry)].filter(Boolean).join(', '),
      },
    };
  });
  if (choices.length === 0) {
    prompts.print(`No ${kind} is known yet. The web console shows the IDs of ${kind}s.`);
  }
  choices.push({ name: 'Another ID', value: 'other' });
  const chosen = choices.length > 1 ? await choose(question, choices, prompts, before) : 'other';
  if (chosen !== 'other') return chosen;
  const typed = await prompts.text(`ID of the ${kind}`, {
    check: (text) => brokenHardware(kind, text.trim(), entries),
  });
  return { flags: chosenFlags(kind, typed.trim()), text: typed.trim() };
}

function chosenFlags(kind: Kind, text: string): CreateFlags {
  return kind === 'offer' ? { offer: [text] } : { image: text };
}

function cudaOf({ cuda_version: cuda }: CatalogEntry): string {
  return cuda === null ? '' : `CUDA ${cuda}`;
}

function aboutOffer(offer: CatalogEntry, isRefused: boolean): string[] {
  const { region, gpu, name } = offer;
  return [
    priceSeen(offer) ?? 'price unknown',
    isRefused ? 'refused just now' : (stockSeen(offer) ?? region ?? ''),
    gpu === name ? '' : (gpu ?? ''),
  ];
}

/** Sorts by: not refused, the profile's default, in stock, cheapest, name. */
function sorted(
  entries: readonly CatalogEntry[],
  refused: ReadonlySet<string>,
  wanted: CatalogEntry | undefined,
): CatalogEntry[] {
  // Floating point is accurate enough for sorting.
  const price = ({ price_per_hour }: CatalogEntry) => Number(price_per_hour ?? Number.MAX_VALUE);
  const title = ({ name, id }: CatalogEntry) => titleOf(name, id);
  return [...entries].sort(
    (a, b) =>
      Number(refused.has(a.id)) - Number(refused.has(b.id)) ||
      Number(b === wanted) - Number(a === wanted) ||
      Number(a.in_stock === false) - Number(b.in_stock === false) ||
      price(a) - price(b) ||
      (title(a) < title(b) ? -1 : 1),
  );
}

function isOneOf(typed: readonly string[]) {
  return ({ id, name, fingerprint }: SshKey) =>
    typed.some(
      (one) => one === id || one === fingerprint || (name != null && isSameName(one, name)),
    );
}

async function askForKeys(
  { preferred, lists, isJob, dryRun, prompts, context }: Asking,
  before: Answer | undefined,
): Promise<Answer> {
  const { sshKeys: keys = [], halves } = lists;
  const earlier = before?.flags.sshKey;
  const isChosen = earlier
    ? (key: SshKey) => earlier.includes(typedBy(key, keys))
    : preferred.sshKey && isOneOf(preferred.sshKey);
  const chosen = await askKeys({ keys, halves, isJob, dryRun, prompts, context }, isChosen);
  return answerOf(chosen, keys);
}

function answerOf(chosen: readonly SshKey[], all: readonly SshKey[]): Answer {
  const titles = chosen.map(({ name, id }) => titleOf(name, id));
  return {
    flags: { sshKey: chosen.map((key) => typedBy(key, all)) },
    text: titles.join(', ') || 'none',
  };
}

/**
 * Asks whether to run the base image alone, a template or a container. This is one question, since
 * an instance is one of the three (API document: connection_info).
 */
async function askRuns(
  { lists: { templates }, prompts }: Asking,
  before: Answer | undefined,
): Promise<Answer> {
  const slugs = templates.map(({ id, slug: name }) => ({ id, name }));
  const runs = await choose<Answer | 'other'>(
    'Software',
    [
      { name: 'Base image only', value: { flags: {}, text: 'base image only' } },
      ...templates.map(({ id, name, slug: word, description, min_disk_gb, min_cuda_version }) => ({
        name: titleOf(name ?? word, id),
        about: [
          [
            min_disk_gb != null && `${min_disk_gb} GB disk`,
            min_cuda_version && `CUDA ${min_cuda_version}`,
          ]
            .filter(Boolean)
            .join(', '),
          description ?? '',
        ],
        value: {
          flags: { template: typedBy({ id, name: word }, slugs) },
          text: `template ${titleOf(name ?? word, id)}`,
        },
      })),
      { name: 'Custom container', value: 'other' },
    ],
    prompts,
    before,
  );
  if (runs !== 'other') return runs;
  const { flags, text } = await askImage(prompts, before);
  const port = portsIn(
    await prompts.text('Ports, such as 8080:80 (Enter: none)', { check: brokenPorts }),
  );
  if (port.length === 0) return { flags, text };
  const ports = port.map((one) => `port ${one.external_port} to ${one.internal_port}`);
  return { flags: { ...flags, port }, text: [text, ...ports].join('; ') };
}

/** Asks for a container image. Its other settings are only available as flags. */
async function askImage(prompts: Prompts, before: Answer | undefined): Promise<Answer> {
  const typed = await prompts.text('Container image', {
    initial: before?.flags.dockerImage ?? '',
    check: (text) => (/^\S+$/.test(text.trim()) ? undefined : 'must not contain spaces'),
  });
  return { flags: { dockerImage: typed.trim() }, text: `the container ${typed.trim()}` };
}

/** Parses space-separated values. */
const verdictsOf = (text: string) => (text.match(/\S+/g) ?? []).map((word) => publishedPort(word));
const portsIn = (text: string) =>
  verdictsOf(text)
    .filter((one) => one.ok)
    .map(({ value }) => value);

function brokenPorts(text: string): string | undefined {
  const [broken] = verdictsOf(text).flatMap((one) => (one.ok ? [] : [one.rule]));
  return broken ?? portClash(portsIn(text))?.rule;
}

function askDrive(
  { lists: { drives }, prompts }: Asking,
  before: Answer | undefined,
): Promise<Answer> {
  const choices: Choice<Answer>[] = drives.map((drive) => ({
    name: titleOf(drive.name, drive.id),
    about: [
      drive.size_gb == null ? '' : `${drive.size_gb} GB`,
      drive.price_per_hour == null ? '' : `${roublesText(drive.price_per_hour)}/h`,
    ],
    value: { flags: { drive: typedBy(drive, drives) }, text: titleOf(drive.name, drive.id) },
  }));
  const none = { name: 'None', value: { flags: {}, text: 'none' } };
  return choose('Cloud drive', [none, ...choices], prompts, before);
}
