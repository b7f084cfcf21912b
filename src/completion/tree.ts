/** Things that are completed by name, as the cache and the scripts call them. */
export const NAME_KINDS = [
  'instance',
  'drive',
  'ssh-key',
  'template',
  'offer',
  'image',
  'profile',
] as const;
export type NameKind = (typeof NAME_KINDS)[number];

/** What an instance has, by name: the cache knows it since the instance was read. */
export const PART_KINDS = ['endpoint', 'secret'] as const;
export type PartKind = (typeof PART_KINDS)[number];

/** What one place of a command line takes. */
export type Offer =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** Some of these words, with commas between them. */
  | { readonly kind: 'list'; readonly words: readonly string[] }
  /** One of these words, or one with a hyphen before it. */
  | { readonly kind: 'sort'; readonly words: readonly string[] }
  | { readonly kind: 'names'; readonly of: readonly (NameKind | 'terminated-instance')[] }
  | { readonly kind: 'file' }
  /** A file here, or INSTANCE:PATH, of which the instance alone is known here. */
  | { readonly kind: 'path' }
  /** EXTERNAL:INTERNAL[/tcp|udp][,name=web][,main]: what follows the numbers can be completed. */
  | { readonly kind: 'port' }
  /** What the instance in the first argument has. */
  | { readonly kind: 'part'; readonly of: PartKind }
  /** NAME=VALUE; what follows an @ is a file. */
  | { readonly kind: 'field' }
  /** The words of a command, as `help` takes them, or a topic. */
  | { readonly kind: 'command'; readonly topics: readonly string[] }
  /** Anything; only the user knows. */
  | { readonly kind: 'free' };

export interface Flag {
  /** `--output`, and `-o` after it if there is a short form. */
  readonly names: readonly [string, ...string[]];
  readonly help: string;
  /** What it takes; undefined for a switch. */
  readonly value?: Offer;
  /** Its value may be left out, and is given after `=` alone. */
  readonly optional?: true;
}

/** A command, as far as completion is concerned: plain data, made from the live tree. */
export interface Place {
  /** The words that lead here, without the program's own; none for the root. */
  readonly path: readonly string[];
  /** Other words for the last of them. */
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** What each argument takes, in order. */
  readonly takes: readonly Offer[];
  /** The last argument may be repeated. */
  readonly repeats: boolean;
  readonly below: readonly Place[];
}

/** Every place of the tree, the root first. */
export function everyPlace(root: Place): Place[] {
  return [root, ...root.below.flatMap(everyPlace)];
}

/** The flags that a place has beside those that all share; undefined when it lacks one of these. */
export function ownFlags(place: Place, shared: readonly Flag[]): readonly Flag[] | undefined {
  const isShared = (flag: Flag) => shared.some((one) => sameLook(one, flag));
  const has = (flag: Flag) => place.flags.some((one) => sameLook(one, flag));
  return shared.every(has) ? place.flags.filter((flag) => !isShared(flag)) : undefined;
}

/** The flags of the root that every verb has too, or nearly every one. */
export function sharedFlags(root: Place): readonly Flag[] {
  const others = everyPlace(root).slice(1);
  return root.flags.filter(
    (flag) =>
      others.filter((place) => place.flags.some((one) => sameLook(one, flag))).length * 2 >
      others.length,
  );
}

function sameLook(one: Flag, other: Flag): boolean {
  return one.names.join() === other.names.join() && one.help === other.help;
}

/** What a flag takes at one place, or at all if `path` is undefined. */
export interface FlagValue {
  readonly path: string | undefined;
  readonly names: readonly string[];
  readonly value: Offer;
  readonly optional: boolean;
}

/**
 * What each flag takes. Those that take the same everywhere come once, after those of single
 * places, so that the first that fits is right.
 */
export function flagValues(root: Place): FlagValue[] {
  const places = everyPlace(root);
  const shared = new Set<string>();
  const common: FlagValue[] = [];
  for (const flag of root.flags) {
    if (flag.value !== undefined) {
      shared.add(keyOf(flag));
      common.push({
        path: undefined,
        names: flag.names,
        value: flag.value,
        optional: flag.optional === true,
      });
    }
  }
  const single = places.flatMap((place) =>
    place.flags.flatMap(({ names, value, optional }): FlagValue[] =>
      value === undefined || shared.has(keyOf({ names, help: '', value }))
        ? []
        : [{ path: place.path.join(' '), names, value, optional: optional === true }],
    ),
  );
  return [...single, ...common];
}

function keyOf({ names, value }: Flag): string {
  return JSON.stringify([names, value]);
}
