import { type CatalogEntry, fitting, told } from '../../catalog/index.ts';
import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { entryView } from './view.ts';

export function registerRemove(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: entryView,
    completes: { entry: 'catalog' },
    notes:
      'Nothing changes at the service, and machines go on as they are. What a machine teaches is\n' +
      'learned again when one with it is read.',
    examples: ['gpucloud catalog remove rtx-4090', 'gpucloud catalog rm "Ubuntu 22.04" --json'],
  })
    .argument('<entry>', 'its name or id')
    .action((typed, _flags, command) => removeEntry(typed, frame.context(command)));
}

export async function removeEntry(typed: string, context: Context): Promise<void> {
  const catalog = await context.catalog();
  const entry = oneEntry(typed, await catalog.entries());
  if (entry.sources.length === 1 && entry.sources[0] === 'sandbox') {
    throw usageError(
      `ENTRY "${typed}": the ${entry.kind} ${told(entry)} is a part of the sandbox and can't be removed`,
    );
  }
  await catalog.remove(entry.kind, entry.id);
  context.err.note(`Forgotten: the ${entry.kind} ${told(entry)}.`);
  await context.out.item(entry, entryView);
}

function oneEntry(typed: string, entries: readonly CatalogEntry[]): CatalogEntry {
  const found = fitting(typed, entries);
  const [first, second] = found;
  if (first === undefined) {
    throw new CliError('notFound', `No offer or image "${typed}" is known here.`, {
      hint: 'gpucloud catalog list',
      resource: typed,
    });
  }
  if (second !== undefined) {
    const list = found.map((one) => `${one.kind} ${told(one)}`).join(', ');
    throw usageError(`ENTRY "${typed}" fits several: ${list}`, 'use an id');
  }
  return first;
}
