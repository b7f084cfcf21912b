import type { Choice } from '../../prompts/prompts.ts';
import type { CreateFlags } from '../request/given.ts';

/** A person's choice at one question. */
export interface Answer {
  /** The equivalent flags, with IDs. */
  readonly flags: CreateFlags;
  /** The same flags as a person would type them, with names. */
  readonly typed: CreateFlags;
  /** For the summary. */
  readonly text: string;
}

/** Longer names are tedious to type. */
const LONGEST = 64;

interface Named {
  readonly id: string;
  readonly name?: string | null | undefined;
}

/** The name of a thing if it is unique, else its ID. */
export function typedBy({ id, name }: Named, all: readonly Named[]): string {
  const same = all.filter((other) => other.name === name || other.id === name);
  return name && name.length <= LONGEST && same.length <= 1 ? name : id;
}

/** The index of an earlier choice, else the first. */
export function placeOf<T>(value: T, choices: readonly Choice<T>[]): number {
  const place = choices.findIndex((choice) => choice.value === value);
  return Math.max(0, place);
}
