import type { Clock } from '../clock.ts';
import {
  type BuiltIn,
  builtInEntries,
  type CatalogEntry,
  entry,
  joined,
  type Kind,
} from './entry.ts';
import { type Lesson, learned, lessonsOf, type SeenMachine } from './learn.ts';
import type { CatalogFile, NameRecord } from './schema.ts';
import { openStore } from './store.ts';

export { type CatalogEntry, KINDS, type Kind, type Source } from './entry.ts';
export { fitting, slug, told } from './find.ts';
export type { SeenMachine } from './learn.ts';

export interface CatalogSettings {
  /** catalog.json, which holds the names of all services. */
  readonly file: string;
  /** Whose names these are: the base URL, or `sandbox`. */
  readonly service: string;
  /** What the service tells of itself: the sandbox alone does. */
  readonly builtIn?: () => Promise<BuiltIn>;
  readonly clock: Clock;
  warn(text: string): void;
}

/** Names for the offers and images of one service, whose API documents no list of them. */
export interface Catalog {
  /** Every entry, in no order that matters. Throws CliError('storage') for a file that can't be used. */
  entries(): Promise<readonly CatalogEntry[]>;
  /** The same for commands that can do without: a file that can't be used is a warning, said once. */
  known(): Promise<readonly CatalogEntry[]>;
  /** Gives a name by hand; one that was given before is replaced. Throws CliError('storage'). */
  add(kind: Kind, id: string, name: string): Promise<CatalogEntry>;
  /** Forgets what the file holds of it. Throws CliError('storage'). */
  remove(kind: Kind, id: string): Promise<void>;
  /**
   * Takes up what a machine tells of its offer and image; writes only what is new.
   * Never fails: what can't be kept is a warning, said once.
   */
  learn(machine: SeenMachine): Promise<void>;
}

export function openCatalog({ file, service, builtIn, clock, warn }: CatalogSettings): Catalog {
  const store = openStore(file);
  let latest: CatalogFile | undefined;
  let warned = false;
  // Readings of many machines come at once; in line, the second one of an offer finds it known.
  let last: Promise<void> = Promise.resolve();

  async function change(edit: (file: CatalogFile) => CatalogFile): Promise<CatalogFile> {
    latest = await store.change(edit);
    return latest;
  }

  async function sandboxEntries(): Promise<readonly CatalogEntry[]> {
    return builtIn === undefined ? [] : builtInEntries(await builtIn());
  }

  function isOf(kind: Kind, id: string) {
    return (one: NameRecord | CatalogEntry) =>
      one.kind === kind && one.id === id && (!('service' in one) || one.service === service);
  }

  async function entriesIn({ names }: CatalogFile): Promise<readonly CatalogEntry[]> {
    const own = names.filter((record) => record.service === service).map(entry);
    const given = await sandboxEntries();
    const alone = own.filter((one) => !given.some(isOf(one.kind, one.id)));
    return [
      ...given.map((known) => {
        const mine = own.find(isOf(known.kind, known.id));
        return mine === undefined ? known : joined(known, mine);
      }),
      ...alone,
    ];
  }

  /** Whatever goes wrong with names, it is no reason to stop what is done with a machine. */
  function warnOnce(error: unknown): void {
    if (!warned) {
      warned = true;
      warn(error instanceof Error ? error.message : String(error));
    }
  }

  function taught(before: CatalogFile, lessons: readonly Lesson[]): CatalogFile {
    let names = before.names;
    for (const lesson of lessons) {
      const known = names.find(isOf(lesson.kind, lesson.id));
      const after = learned(known, lesson, service, clock.now());
      if (after !== known) {
        names = [...names.filter((record) => record !== known), after];
      }
    }
    return names === before.names ? before : { ...before, names };
  }

  async function learn(machine: SeenMachine): Promise<void> {
    const own = await sandboxEntries();
    const lessons = lessonsOf(machine).filter(({ kind, id }) => !own.some(isOf(kind, id)));
    if (lessons.length === 0 || warned) {
      return;
    }
    latest ??= await store.read();
    if (taught(latest, lessons) !== latest) {
      await change((now) => taught(now, lessons));
    }
  }

  return {
    async entries() {
      latest = await store.read();
      return await entriesIn(latest);
    },

    async known() {
      try {
        latest ??= await store.read();
      } catch (error) {
        warnOnce(error);
      }
      return await entriesIn(latest ?? { version: 1, names: [] });
    },

    async add(kind, id, name) {
      const after = await change((before) => {
        const known = before.names.find(isOf(kind, id));
        const named = { ...(known ?? { service, kind, id }), given_name: name };
        return { ...before, names: [...before.names.filter((one) => one !== known), named] };
      });
      const found = (await entriesIn(after)).find(isOf(kind, id));
      return found ?? entry({ kind, id, given_name: name });
    },

    async remove(kind, id) {
      const isIt = isOf(kind, id);
      await change((before) => ({ ...before, names: before.names.filter((one) => !isIt(one)) }));
    },

    learn(machine) {
      last = last.then(() => learn(machine)).catch(warnOnce);
      return last;
    },
  };
}
