/** The kinds of names in the cache and the scripts. */
const NAME_KINDS = [
  'instance',
  /** Terminated instances, which only reorder accepts. */
  'terminated',
  'drive',
  'ssh-key',
  'template',
  'offer',
  'image',
  'profile',
] as const;
export type NameKind = (typeof NAME_KINDS)[number];

/** The values to complete at one position of a command line. */
export type Offer =
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

export interface Flag {
  /** `--output`, then `-o` if the flag has a short form. */
  readonly names: readonly [string, ...string[]];
  readonly help: string;
  readonly value?: Offer;
  /** The value is optional and accepted only after `=`. */
  readonly optional?: true;
}

/** A command as completion sees it, as plain data. */
export interface Place {
  /** The command's words without `gpucloud`; empty for the root. */
  readonly path: readonly string[];
  /** Aliases of the last word. */
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly flags: readonly Flag[];
  readonly takes: readonly Offer[];
  readonly repeats: boolean;
  readonly below: readonly Place[];
}

export function everyPlace(root: Place): Place[] {
  return [root, ...root.below.flatMap(everyPlace)];
}
