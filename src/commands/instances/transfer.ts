import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { View } from '../../output/output.ts';
import { type Imported, type JournalExport, parseExport } from '../../rentals/index.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { readInput } from '../kit/input.ts';
import { verb } from '../kit/verb.ts';

/** Characters; a machine takes about 500. */
const LONGEST = 64 * 1024 * 1024;

const importedView: View<Imported> = {
  columns: [
    { id: 'machines', header: 'MACHINES', value: (i) => i.machines },
    { id: 'requests', header: 'OPEN REQUESTS', value: (i) => i.requests },
    { id: 'known', header: 'KNOWN ALREADY', value: (i) => i.known },
  ],
  id: () => null,
  empty: 'Nothing was imported.',
};

export function registerExport(group: AnyCommand, frame: Frame): void {
  verb(group, {
    name: 'export',
    summary: 'Write all that is known of machines as JSON, for another computer',
    notes: 'It holds names, ids and what was asked for; no keys, and no secrets of containers.',
    examples: [
      'gpucloud instances export > machines.json',
      'gpucloud instances export | ssh other gpucloud instances import -',
    ],
  }).action(async (_flags, command) => {
    const context = frame.context(command);
    const journal = await (await context.rentals()).export();
    await context.out.text(`${JSON.stringify(journal, null, 2)}\n`);
  });
}

export function registerImport(group: AnyCommand, frame: Frame): void {
  verb(group, {
    name: 'import',
    summary: 'Take in what another computer knows of machines',
    view: importedView,
    notes: 'What is known better here stays as it is, so that it can be done again at any time.',
    examples: [
      'gpucloud instances import machines.json',
      'gpucloud instances import - < machines.json',
    ],
  })
    .argument('<file>', 'a file that "gpucloud instances export" wrote; - for stdin')
    .action(async (file, _flags, command) => {
      const context = frame.context(command);
      const parsed = parseExport(await readInput('FILE', file, context, LONGEST));
      if (!parsed.ok) {
        throw usageError(`FILE "${file}": ${parsed.what}`);
      }
      await refuseStrangers(parsed.journal, context);
      const imported = await (await context.rentals()).import(parsed.journal);
      await context.out.item(imported, importedView);
    });
}

/** Another account's machines never show up. */
async function refuseStrangers(
  { service, account }: JournalExport,
  context: Context,
): Promise<void> {
  const own = await (await context.rentals()).owner();
  if (service !== own.service) {
    throw usageError(
      `FILE: these are machines of ${service}, and the service in force is ${own.service === '' ? 'not known' : own.service}`,
      'choose the profile that they belong to with --profile',
    );
  }
  if (account !== null && own.account !== null && account !== own.account) {
    throw usageError(
      'FILE: these are machines of another account',
      'choose the profile that they belong to with --profile',
    );
  }
}
