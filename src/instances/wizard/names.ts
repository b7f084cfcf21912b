import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { instanceName } from '../../rules/names.ts';
import { isTerminated } from '../../rules/statuses.ts';

const FIRST =
  'amber brisk calm clear coral deep fair fleet grand keen light lunar noble polar quick quiet rapid sharp solid steady swift tall warm wide'.split(
    ' ',
  );
const SECOND =
  'alder bay birch brook cedar cliff crane delta dune falcon fern field heron ivy lake lark maple otter pine reef ridge river spruce wren'.split(
    ' ',
  );

/** Names that are taken: whether one is free again after a termination is not documented. */
export interface TakenNames {
  /** Of machines that are not known to be terminated. */
  readonly living: ReadonlySet<string>;
  /** Of requests whose outcome is unknown, or has not come yet. */
  readonly doubtful: ReadonlySet<string>;
  readonly all: ReadonlySet<string>;
}

/** Whoever wants to rent is not kept from it by a journal that can't be read: `rent` will say so. */
export async function takenNames(context: Context): Promise<TakenNames> {
  try {
    const { instances: machines, ...open } = await (await context.journal()).read({
      archived: true,
    });
    const doubtful = [...open.unknown, ...open.inFlight];
    const living = machines.filter(({ last }) => !isTerminated(last?.status));
    return {
      living: new Set(living.map(({ name }) => name)),
      doubtful: new Set(doubtful.map(({ name }) => name)),
      all: new Set([...machines, ...doubtful].map(({ name }) => name)),
    };
  } catch (error) {
    if (!(error instanceof CliError) || error.failure !== 'storage') throw error;
    return { living: new Set(), doubtful: new Set(), all: new Set() };
  }
}

/** Two words that are quick to type, and that no machine known here is called. */
export function suggestedName(taken: TakenNames, random: () => number): string {
  const one = (words: readonly string[]) => words[Math.floor(random() * words.length)] ?? '';
  const base = `${one(FIRST)}-${one(SECOND)}`;
  let name = base;
  for (let number = 2; taken.all.has(name); number += 1) {
    name = `${base}-${number}`;
  }
  return name;
}

/** The rule that a name breaks, among them that it is unique (API document: Limits). */
export function brokenName(taken: TakenNames): (text: string) => string | undefined {
  return (text) => {
    // While it is short, what is wrong with its letters helps more than that it is short.
    const letters = instanceName(text.padEnd(3, 'a'));
    const verdict = letters.ok ? instanceName(text) : letters;
    if (!verdict.ok) return verdict.rule;
    if (taken.living.has(text)) return 'a machine of that name is known here, and names are unique';
    return taken.doubtful.has(text)
      ? 'a request of that name has an unknown outcome: gpucloud instances recover'
      : undefined;
  };
}
