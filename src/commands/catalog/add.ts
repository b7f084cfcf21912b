import { type CatalogEntry, fitting, KINDS, type Kind, slug } from '../../catalog/index.ts';
import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { refuseSecret } from '../../cli/no-secret.ts';
import { checked, oneOf, ruled } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { resourceId } from '../../rules/ids.ts';
import { catalogName } from './rules.ts';
import { entryView } from './view.ts';

export function registerAdd(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: entryView,
    notes:
      'The name is kept on this computer alone, for the service in force. It stands before the\n' +
      "service's own name and may be typed in any case or as a slug: rtx-4090 for RTX 4090.",
    completes: { '--name': 'nothing' },
    examples: [
      'gpucloud catalog add offer 6f1c0e7a-3f57-4f0a-9a53-8e1f0c1d2b3a --name "RTX 4090"',
      'gpucloud catalog add image 0b9e6c1d-52d4-4c8e-8a5e-3d2f7a6b9c01 --name ubuntu',
    ],
  })
    .argument('<kind>', KINDS.join(' or '), oneOf('KIND', KINDS))
    .argument('<id>', 'its id at the service', (text: string) => {
      refuseSecret('ID', text);
      return checked('ID', text, resourceId);
    })
    .option('--name <name>', 'the name', (text: string) => {
      refuseSecret('--name', text);
      return ruled('--name', catalogName)(text);
    })
    .action((kind, id, { name }, command) => addName({ kind, id, name }, frame.context(command)));
}

export interface AddInput {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string | undefined;
}

export async function addName(input: AddInput, context: Context): Promise<void> {
  const { kind, id } = input;
  const catalog = await context.catalog();
  const name = input.name ?? (await askedName(input, context));
  const entries = (await catalog.entries()).filter((one) => one.kind === kind);
  refuseTaken(name, entries, input);
  const before = entries.find((one) => one.id === id)?.given_name ?? null;
  const entry = await catalog.add(kind, id, name);
  if (before !== null && before !== name) {
    context.err.note(`The ${kind} was called "${before}" before.`);
  }
  context.err.note(`Use it: gpucloud instances create NAME --${kind} ${typedForm(name)}`);
  await context.out.item(entry, entryView);
}

/**
 * Two things of one given name would make it useless. A name that the service gave to something
 * else may be taken: that is how one of several offers of one name is chosen.
 */
function refuseTaken(name: string, entries: readonly CatalogEntry[], { kind, id }: AddInput): void {
  const other = entries.find(
    (one) => one.id !== id && one.given_name !== null && slug(one.given_name) === slug(name),
  );
  if (other !== undefined) {
    throw usageError(
      `--name "${name}": the ${kind} ${other.id} is called "${other.given_name}" already`,
      `take that name away first: gpucloud catalog remove ${other.id}`,
    );
  }
  // An id goes before every name, so that this one could never be reached by it.
  if (fitting(name, entries).some((one) => one.id === name && one.id !== id)) {
    throw usageError(`--name "${name}": this is the id of another ${kind}`);
  }
}

async function askedName({ kind, id }: AddInput, context: Context): Promise<string> {
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError(`--name is missing: what the ${kind} ${id} is to be called`);
  }
  const text = await prompts.text(`Name of the ${kind}`, {
    check: (typed) => {
      const verdict = catalogName(typed);
      return verdict.ok ? undefined : verdict.rule;
    },
  });
  return checked('--name', text, catalogName);
}

/** As it is typed in a shell, without quotes where none are needed. */
function typedForm(name: string): string {
  return /^[A-Za-z0-9._-]+$/.test(name) ? name : slug(name);
}
