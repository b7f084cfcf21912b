import { type CatalogEntry, KINDS, type Kind } from '../../catalog/index.ts';
import { type AnyCommand, Option } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { oneOf } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { entryView } from './view.ts';

export function registerList(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: entryView,
    notes:
      "The published API has no list of them. Each machine that is read teaches its offer's and\n" +
      "image's name; a price is that of the newest machine seen, and may have changed since.",
    examples: [
      'gpucloud catalog list',
      'gpucloud catalog list --kind offer --sort price_per_hour',
      'gpucloud catalog list --json',
    ],
  })
    .addOption(
      new Option('--kind <kind>', `only one kind: ${KINDS.join(' or ')}`).argParser(
        oneOf('--kind', KINDS),
      ),
    )
    .action(({ kind }, command) => listCatalog(kind, frame.context(command)));
}

export async function listCatalog(kind: Kind | undefined, context: Context): Promise<void> {
  const entries = await (await context.catalog()).entries();
  const chosen = entries.filter((one) => kind === undefined || one.kind === kind);
  await context.out.list([...chosen].sort(offersFirst), entryView);
}

function offersFirst(a: CatalogEntry, b: CatalogEntry): number {
  return (
    KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
    compare(a.name ?? a.id, b.name ?? b.id) ||
    compare(a.id, b.id)
  );
}

/** By code units: the same everywhere, whatever the locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
