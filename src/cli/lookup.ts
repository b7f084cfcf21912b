import type { Api } from '../api/index.ts';
import { CliError, usageError } from '../errors.ts';
import { isUuid } from '../rules/names.ts';
import { nearest } from '../rules/nearest.ts';

/** A thing of the account that can be called by its name. */
export interface Named {
  readonly id: string;
  readonly name?: string | null | undefined;
}

interface Lookup<T extends Named> {
  /** The flag or argument that names it, for messages. */
  readonly flag: string;
  /** `an SSH key`, for messages. */
  readonly what: string;
  list(): Promise<T[]>;
  /** Other words that name the thing, such as a slug. */
  also?(item: T): readonly (string | null | undefined)[];
  readonly hint: string;
}

/** The shortest beginning of an id that may stand for it. */
const SHORTEST_BEGINNING = 4;

/** Those whose id begins as typed, which a table shows alone where the whole has no room. */
export function beginningSo<T extends Named>(typed: string, items: readonly T[]): readonly T[] {
  if (typed.length < SHORTEST_BEGINNING) return [];
  const beginning = typed.toLowerCase();
  return items.filter(({ id }) => id.toLowerCase().startsWith(beginning));
}

/**
 * The thing that a text means: by its id first, then by its name, then by a beginning of its id.
 * Throws when nothing fits (not found) or several do (usage).
 */
export async function findOne<T extends Named>(typed: string, lookup: Lookup<T>): Promise<T> {
  const items = await lookup.list();
  const fitting = items.filter((item) => item.id === typed);
  if (fitting.length === 0) {
    fitting.push(...items.filter((item) => isCalled(item, typed, lookup)));
  }
  const isBeginning = fitting.length === 0;
  if (isBeginning) {
    fitting.push(...beginningSo(typed, items));
  }
  const [first, second] = fitting;
  if (first === undefined) {
    throw new CliError(
      'notFound',
      `${lookup.flag} "${typed}": there is no ${lookup.what} with that name or id.`,
      { hint: meant(typed, items, lookup), resource: typed },
    );
  }
  if (second !== undefined) {
    const ids = fitting
      .map(({ id, name }) => (isBeginning && name != null ? `${name} ${id}` : id))
      .join(', ');
    const what = isBeginning ? 'several have an id that begins so' : 'several have that name';
    throw usageError(`${lookup.flag} "${typed}": ${what}: ${ids}`, 'use an id');
  }
  return first;
}

/** Where to look, after the name that was most likely meant. */
function meant<T extends Named>(typed: string, items: readonly T[], lookup: Lookup<T>): string {
  const names = items.flatMap((item) => [...(lookup.also?.(item) ?? []), item.name]);
  const near = nearest(
    typed,
    names.filter((name) => typeof name === 'string'),
  );
  return near === undefined ? lookup.hint : `did you mean "${near}"? All of them: ${lookup.hint}`;
}

function isCalled<T extends Named>(item: T, typed: string, lookup: Lookup<T>): boolean {
  return item.name === typed || lookup.also?.(item).includes(typed) === true;
}

/** The same where the id is enough: a UUID is taken as it is, without a request. */
export async function idOf<T extends Named>(typed: string, lookup: Lookup<T>): Promise<string> {
  return isUuid(typed) ? typed : (await findOne(typed, lookup)).id;
}

export function sshKeyId(typed: string, api: () => Promise<Api>): Promise<string> {
  return idOf(typed, {
    flag: '--ssh-key',
    what: 'SSH key',
    list: async () => (await api()).sshKeys.list(),
    also: (key) => [key.fingerprint],
    hint: 'gpucloud ssh-keys list',
  });
}

/** `template_id` is an id, and the slug is a separate field (API document: Template). */
export function templateId(typed: string, api: () => Promise<Api>): Promise<string> {
  return idOf(typed, {
    flag: '--template',
    what: 'template',
    list: async () => (await api()).templates.list(),
    also: (template) => [template.slug],
    hint: 'gpucloud templates list',
  });
}

export function driveId(typed: string, api: () => Promise<Api>): Promise<string> {
  return idOf(typed, {
    flag: '--drive',
    what: 'drive',
    list: async () => (await api()).drives.list(),
    hint: 'gpucloud drives list',
  });
}
