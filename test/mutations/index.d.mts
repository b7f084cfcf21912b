export interface Mutation {
  readonly number: number;
  readonly room: string;
  /** What goes wrong with it. */
  readonly name: string;
  /** Under src/. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly search: string;
  readonly replace: string;
  /** Files and folders below test/. */
  readonly tests: readonly string[];
  /** The reason why no test can notice it. */
  readonly equivalent?: string;
}

export const MUTATIONS: readonly Mutation[];
export function at(number: number): Mutation;
export function sourceOf(mutation: Mutation): string;
/** Throws unless the search text occurs exactly once. */
export function mutated(source: string, mutation: Mutation): string;
