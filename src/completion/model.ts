import { offerText } from './shells/quote.ts';
import { everyPlace, type Flag, type Place } from './tree.ts';

/** Input for each shell's script generator. */
export interface Model {
  /** Flags of every command. */
  readonly shared: readonly Flag[];
  readonly places: readonly ModelPlace[];
  readonly values: readonly ModelValue[];
}

export interface Named {
  readonly name: string;
  readonly help: string;
}

export interface ModelPlace {
  /** `instances stop`; '' is the root. */
  readonly path: string;
  readonly steps: readonly Step[];
  readonly below: readonly Named[];
  /** Flags in addition to the shared flags. */
  readonly flags: readonly Flag[];
  readonly takes: readonly string[];
  readonly repeats: boolean;
}

export interface Step {
  readonly words: readonly string[];
  readonly to: string;
  /**
   * Set if the words of a command follow: completion then starts at the root again and adds these
   * topics.
   */
  readonly topics?: readonly string[];
}

/** Flags that complete the same value. A command's own flags precede flags of every command. */
interface ModelValue {
  /**
   * `instances list:--columns`, or `*:--output` for a flag that completes the same in every
   * command.
   */
  readonly keys: readonly string[];
  /** The offer as the scripts read it, with a leading `=` if the value may be omitted. */
  readonly offer: string;
}

export function modelOf(root: Place): Model {
  const places = everyPlace(root);
  const shared = root.flags.filter((flag) =>
    places.every(({ flags }) => flags.some((one) => sameLook(one, flag))),
  );
  return {
    shared,
    places: places.map((place) => ({
      path: place.path.join(' '),
      steps: place.below.map((below) => ({
        words: [nameOf(below), ...below.aliases],
        to: below.path.join(' '),
        ...topicsOf(below),
      })),
      below: place.below.map((below) => ({ name: nameOf(below), help: below.summary })),
      flags: place.flags.filter((flag) => !shared.some((one) => sameLook(one, flag))),
      takes: place.takes.map(offerText),
      repeats: place.repeats,
    })),
    values: valuesOf(root),
  };
}

function topicsOf({ takes: [first] }: Place): Pick<Step, 'topics'> {
  return first?.kind === 'command' ? { topics: first.topics } : {};
}

function sameLook(one: Flag, other: Flag): boolean {
  return one.names.join() === other.names.join() && one.help === other.help;
}

function valuesOf(root: Place): ModelValue[] {
  const takenBy = ({ names, value }: Flag) => JSON.stringify([names, value]);
  const everywhere = new Set(root.flags.map(takenBy));
  const all = [
    ...everyPlace(root).flatMap(({ path, flags }) =>
      flags
        .filter((flag) => !everywhere.has(takenBy(flag)))
        .map((flag) => ({ path: path.join(' '), ...flag })),
    ),
    ...root.flags.map((flag) => ({ path: '*', ...flag })),
  ];
  const grouped = new Map<string, { keys: string[]; offer: string }>();
  for (const { path, names, value, optional } of all) {
    if (value === undefined) continue;
    const offer = `${optional ? '=' : ''}${offerText(value)}`;
    const group = `${path === '*'} ${offer}`;
    const { keys } = grouped.get(group) ?? { keys: [] };
    grouped.set(group, { keys: [...keys, ...names.map((name) => `${path}:${name}`)], offer });
  }
  return [...grouped.values()];
}

function nameOf({ path }: Place): string {
  return path.at(-1) ?? '';
}

export function flagWords(flags: readonly Flag[]): Named[] {
  return flags.flatMap(({ names, help }) => names.map((name) => ({ name, help })));
}

export const HEAD = [
  'Written by "gpucloud completion": do not edit.',
  'Tab reads names from files in the cache folder of gpucloud, and never runs their text.',
  "It doesn't start processes or send requests.",
] as const;
