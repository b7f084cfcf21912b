/** The kinds of names that Tab completes. */
export type NameKind =
  | 'instance'
  /** Terminated instances, which only reorder accepts. */
  | 'terminated'
  /** Instances with a job. */
  | 'job'
  | 'drive'
  | 'ssh-key'
  | 'template'
  | 'offer'
  | 'image'
  | 'profile';

/** The values to complete at one position of a command line. */
export type CompletionValue =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** Some of these words, separated by commas. */
  | { readonly kind: 'list'; readonly words: readonly string[] }
  /** One of these words, with an optional leading hyphen. */
  | { readonly kind: 'sort'; readonly words: readonly string[] }
  | { readonly kind: 'names'; readonly of: readonly NameKind[] }
  | { readonly kind: 'file' }
  /** A local file, or INSTANCE:PATH; only the instance can be completed. */
  | { readonly kind: 'path' }
  /** Words of a command, as in `help`, or a topic. */
  | { readonly kind: 'command'; readonly topics: readonly string[] }
  /** A value known only to the user. */
  | { readonly kind: 'free' };

/** One suggestion, with a few words about it. */
export interface Candidate {
  readonly value: string;
  readonly help: string;
}

/** What may follow at the cursor. */
export interface Answer {
  /** The part of the typed word that stays before each value: `--columns=name,`. */
  readonly before: string;
  readonly values: readonly Candidate[];
  /** Whether a file may follow too. The shell completes it. */
  readonly files: boolean;
  /** Whether the values replace the typed text, which spells their beginning otherwise. */
  readonly replaces?: boolean;
  /** What may follow a value directly: more values after a comma, or a path after `INSTANCE:`. */
  readonly continues?: 'list' | 'path';
}
