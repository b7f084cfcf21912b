import {
  type Catalog,
  type CatalogEntry,
  dayIn,
  describeEntry,
  fitting,
  KINDS,
  type Kind,
  slug,
} from '../../catalog/index.ts';
import { Option } from '../../command-line/command.ts';
import type { Group } from '../../command-line/group.ts';
import { brokenBy, checked, oneOf, refuseSecret } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { isUuid, resourceId } from '../../rules/names.ts';
import { broken, kept, type Rule, type Verdict } from '../../rules/rule.ts';
import { entryView } from './view.ts';

export const catalog: Group = {
  verbs: {
    list: verb({
      aliases: ['ls'],
      summary: 'List known offers and images, with their last prices',
      tool: { allow: 'read' },
      view: entryView,
      notes:
        'The API has no catalog. Commands add the offer and image of each instance that they read. ' +
        'Prices come from the newest instance read and may be outdated. In JSON, "in_stock" may be ' +
        'outdated too; "in_stock_at" is when it was read. Rejected requests do not change these values.',
      examples: [
        'gpucloud catalog list',
        'gpucloud catalog list --kind offer --sort price_per_hour',
        'gpucloud catalog list --json',
      ],
      takes: (command) =>
        command.addOption(
          new Option('--kind <kind>', `list only this kind: ${KINDS.join(' or ')}`).argParser(
            oneOf('--kind', KINDS),
          ),
        ),
      async run(context, { kind }) {
        const entries = await (await context.catalog()).entries();
        const chosen = entries.filter((one) => kind === undefined || one.kind === kind);
        await context.out.list([...chosen].sort(offersFirst), entryView);
        noteOutOfStock(chosen, context);
      },
    }),
    add: verb({
      summary: 'Name an offer or image',
      tool: { allow: 'all', idempotent: true },
      view: entryView,
      notes:
        "The name is stored on this computer, for this service. It overrides the service's " +
        'name. Type it in any case or as a slug: rtx-4090 for RTX 4090.',
      completes: { '--name': 'nothing' },
      examples: [
        'gpucloud catalog add offer OFFER_ID --name "RTX 4090"',
        'gpucloud catalog add image IMAGE_ID --name ubuntu',
      ],
      takes: (command) =>
        command
          .argument('<kind>', KINDS.join(' or '), oneOf('KIND', KINDS))
          .argument('<id>', 'ID from the service', noSecret('ID', resourceId))
          .option('--name <name>', 'display name', noSecret('--name', catalogName)),
      async run(context, kind, id, flags) {
        const catalog = await context.catalog();
        const name = flags.name ?? (await askedName(kind, id, context));
        const entries = (await catalog.entries()).filter((one) => one.kind === kind);
        refuseTaken(name, entries, { kind, id });
        const before = entries.find((one) => one.id === id)?.given_name ?? null;
        const entry = await catalog.add(kind, id, name);
        if (before !== null && before !== name) {
          context.err.note(`The ${kind}'s previous name was "${before}".`);
        }
        // Suggests the slug if a shell would need quotes around the name.
        const typed = /^[A-Za-z0-9._-]+$/.test(name) ? name : slug(name);
        context.err.note(`Use it: ${gpucloud('instances', 'create', 'NAME', `--${kind}`, typed)}`);
        await context.out.item(entry, entryView);
      },
    }),
    remove: verb({
      aliases: ['rm'],
      summary: 'Remove the name of an offer or image',
      tool: { allow: 'all', idempotent: true, asks: true },
      view: entryView,
      completes: { entry: 'catalog' },
      notes:
        "Doesn't change the service. The name returns when a command reads an instance with " +
        'that offer or image.',
      examples: ['gpucloud catalog remove rtx-4090', 'gpucloud catalog rm "Ubuntu 22.04" --json'],
      takes: (command) => command.argument('<entry>', 'name or ID'),
      async run(context, typed) {
        const catalog = await context.catalog();
        const entry = await oneEntry(typed, catalog);
        await catalog.remove(entry.kind, entry.id);
        context.err.note(`Removed the ${entry.kind} ${describeEntry(entry)}.`);
        await context.out.item(entry, entryView);
      },
    }),
  },
  examples: [
    'gpucloud catalog list',
    'gpucloud catalog add offer OFFER_ID --name "RTX 4090"',
    'gpucloud catalog remove rtx-4090',
  ],
};

/** Notes only offers that were out of stock: other offers may be taken by now. */
function noteOutOfStock(entries: readonly CatalogEntry[], { err }: Context): void {
  const out = entries.filter(({ in_stock }) => in_stock === false);
  const named = out.map((one) => `${one.name ?? one.id} (${dayIn(one.in_stock_at) ?? 'now'})`);
  if (named.length > 0) err.note(`Out of stock when last seen: ${named.sort().join(', ')}.`);
}

/**
 * Sorts offers first, then by name. Compares code units, so that the order is the same in every
 * locale.
 */
function offersFirst(a: CatalogEntry, b: CatalogEntry): number {
  const [one, other] = [sortKey(a), sortKey(b)];
  return one < other ? -1 : 1;
}

function sortKey({ kind, name, id }: CatalogEntry): string {
  return [KINDS.indexOf(kind), name ?? id, id].join('\0');
}

/** Parses a value without showing it in the error, since it may be a secret. */
function noSecret(flag: string, rule: Rule<string>): (text: string) => string {
  return (text) => {
    refuseSecret(flag, text);
    return checked(flag, text, rule);
  };
}

/** Checks a name chosen by the user: it must be typeable and differ from an ID. */
function catalogName(text: string): Verdict<string> {
  const name = text.trim();
  if (name === '') return broken('must not be empty');
  if ([...name].length > 100) return broken('must have at most 100 characters');
  if (/\p{C}/u.test(name)) return broken('must be one line without control characters');
  if (slug(name) === '') return broken('must contain a letter or a digit');
  if (name.startsWith('-')) return broken('must not start with "-"');
  if (isUuid(name)) return broken('must not look like an ID');
  return kept(name);
}

async function askedName(kind: Kind, id: string, context: Context): Promise<string> {
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError(`--name is missing: pass a name for the ${kind} ${id}`);
  }
  const text = await prompts.text(`Name of the ${kind}`, { check: brokenBy(catalogName) });
  return checked('--name', text, catalogName);
}

/**
 * Refuses a chosen name if another entry already has it. Allows the service's own name, to choose
 * one of several offers with that name.
 */
function refuseTaken(
  name: string,
  entries: readonly CatalogEntry[],
  { kind, id }: Pick<CatalogEntry, 'kind' | 'id'>,
): void {
  const others = entries.filter((one) => one.id !== id);
  const other = others.find(
    ({ given_name }) => given_name !== null && slug(given_name) === slug(name),
  );
  if (other !== undefined) {
    throw usageError(
      `--name "${name}": the ${kind} ${other.id} already has that name`,
      `remove that name first: ${gpucloud('catalog', 'remove', other.id)}`,
    );
  }
  // Such a name could never match, since an ID takes precedence over names.
  if (others.some((one) => one.id === name)) {
    throw usageError(`--name "${name}": another ${kind} has this ID`);
  }
}

async function oneEntry(typed: string, catalog: Catalog): Promise<CatalogEntry> {
  const found = fitting(typed, await catalog.entries());
  const [entry, second] = found;
  if (entry === undefined) {
    throw new CliError('notFound', `No known offer or image "${typed}".`, {
      hint: gpucloud('catalog', 'list'),
      resource: typed,
    });
  }
  if (second !== undefined) {
    const list = found.map((one) => `${one.kind} ${describeEntry(one)}`).join(', ');
    throw usageError(`ENTRY "${typed}" matches several entries: ${list}`, 'use an ID');
  }
  if (entry.sources.length === 1 && entry.sources[0] === 'sandbox') {
    throw usageError(
      `ENTRY "${typed}": the ${entry.kind} ${describeEntry(entry)} belongs to the sandbox and can't be removed`,
    );
  }
  return entry;
}
