import type { Choice } from '../../prompts/prompts.ts';
import type { CreateFlags } from '../request/body.ts';

/** What a person chose at one question. */
export interface Answer {
  /** The flags that it stands for, with IDs. */
  readonly flags: CreateFlags;
  /** The same flags as a person would type them, with names. */
  readonly typed: CreateFlags;
  /** For the summary. */
  readonly text: string;
}

/** As much as anybody types of a name. */
const LONGEST = 64;

interface Named {
  readonly id: string;
  readonly name?: string | null | undefined;
}

/** The name of a thing if it means no other one, else its ID. */
export function typedBy({ id, name }: Named, all: readonly Named[]): string {
  const same = all.filter((other) => other.name === name || other.id === name);
  return name && name.length <= LONGEST && same.length <= 1 ? name : id;
}

/** The place of an earlier answer, else the first. */
export function placeOf<T>(value: T, choices: readonly Choice<T>[]): number {
  const place = choices.findIndex((choice) => choice.value === value);
  return Math.max(0, place);
}
