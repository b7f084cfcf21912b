import type { Drive, SshKey, Template } from '../api/index.ts';
import { CliError, usageError } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';
import { isBeginning, isSameName, isUuid } from '../rules/names.ts';
import { nearest } from '../rules/nearest.ts';

/** A named resource of the account. */
export interface Named {
  readonly id: string;
  readonly name?: string | null | undefined;
}

interface Lookup<T extends Named> {
  /** The flag or argument to name in messages. */
  readonly flag: string;
  /** The kind of resource to name in messages: `an SSH key`. */
  readonly what: string;
  list(): Promise<T[]>;
  /** Returns the resource's other names, such as a slug. */
  also?(item: T): readonly (string | null | undefined)[];
  readonly hint: string;
}

/**
 * Returns the item with this ID, otherwise the items with this name. `also` returns an item's other
 * names.
 */
function calledSo<T extends Named>(
  typed: string,
  items: readonly T[],
  also?: Lookup<T>['also'],
): readonly T[] {
  const exact = items.filter(({ id }) => id === typed);
  if (exact.length > 0) return exact;
  return items.filter((item) => item.name === typed || also?.(item).includes(typed));
}

/**
 * Finds a resource by ID, then exact name, then name in any case, then ID prefix. Throws if nothing
 * matches (not found) or several match (usage).
 */
export async function findOne<T extends Named>(typed: string, lookup: Lookup<T>): Promise<T> {
  const items = await lookup.list();
  const exact = calledSo(typed, items, lookup.also);
  const isSame = (name: string) => isSameName(name, typed);
  const called =
    exact.length > 0 ? exact : items.filter((item) => namesOf(item, lookup).some(isSame));
  const isPrefix = called.length === 0;
  const fitting = isPrefix ? items.filter(({ id }) => isBeginning(typed, id)) : called;
  const [first, second] = fitting;
  if (first === undefined) {
    throw new CliError(
      'notFound',
      `${lookup.flag} "${typed}": no ${lookup.what.replace(/an? /, '')} has that name or ID.`,
      { hint: meant(typed, items, lookup), resource: typed },
    );
  }
  if (second !== undefined) {
    const ids = fitting
      .map(({ id, name }) => (isPrefix && name != null ? `${name} ${id}` : id))
      .join(', ');
    throw usageError(`${lookup.flag} "${typed}" is ambiguous: ${ids}`, 'use an ID');
  }
  return first;
}

/** So many names fit into a hint. */
const MOST_NAMED = 5;

/** Suggests the closest name, or else the few existing ones; then the command that lists all. */
function meant<T extends Named>(typed: string, items: readonly T[], lookup: Lookup<T>): string {
  const near = nearest(
    typed,
    items.flatMap((item) => namesOf(item, lookup)),
  );
  if (near !== undefined) return `did you mean "${near}"? List all: ${lookup.hint}`;
  if (items.length === 0 || items.length > MOST_NAMED) return lookup.hint;
  const names = items.map(({ id, name }) => name ?? id).join(', ');
  const kind = lookup.what.replace(/an? /, '');
  return `existing ${kind}s: ${names}. List all: ${lookup.hint}`;
}

function namesOf<T extends Named>(item: T, { also }: Lookup<T>): string[] {
  return [...(also?.(item) ?? []), item.name].filter((name) => typeof name === 'string');
}

/** Finds a resource and returns its ID. Returns a UUID as typed, without a request. */
export async function idOf<T extends Named>(typed: string, lookup: Lookup<T>): Promise<string> {
  return isUuid(typed) ? typed : (await findOne(typed, lookup)).id;
}

/** {@link Lookup} fields that don't depend on the flag. */
type Kind<T extends Named> = Pick<Lookup<T>, 'what' | 'also' | 'hint'>;

export const SSH_KEY: Kind<SshKey> = {
  what: 'SSH key',
  also: ({ fingerprint }) => [fingerprint],
  hint: gpucloud('ssh-keys', 'list'),
};

/** `template_id` is an ID, and the slug is a separate field (API document: Template). */
export const TEMPLATE: Kind<Template> = {
  what: 'template',
  also: ({ slug }) => [slug],
  hint: gpucloud('templates', 'list'),
};

export const DRIVE: Kind<Drive> = { what: 'drive', hint: gpucloud('drives', 'list') };
