import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { readInput } from '../../cli/input.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { isAnyReadable, learnAccount } from '../../instances/account.ts';
import { settleOpen } from '../../instances/settle-open.ts';
import { type Imported, type JournalExport, parseExport } from '../../journal/index.ts';
import type { View } from '../../output/output.ts';

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

export function registerExport(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    notes: 'It holds names, ids and what was asked for; no keys, and no secrets of containers.',
    examples: [
      'gpucloud instances export > machines.json',
      'gpucloud instances export | ssh other gpucloud instances import -',
    ],
  }).action(async (_flags, command) => {
    const context = frame.context(command);
    const journal = await context.journal();
    const exported = await journal.export();
    await context.out.text(`${JSON.stringify(exported, null, 2)}\n`);
    if ((await journal.strangers()).length > 0) {
      context.err.warn(
        'What was asked for here with another key, perhaps of another account, is not in it: "gpucloud instances list" finds out whose it is.',
      );
    }
  });
}

export function registerImport(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: importedView,
    notes:
      'What is known better here stays as it is, so that it can be done again at any time. It only adds:\n' +
      'no machine leaves the list for what a file says, and a request of unknown outcome is settled by\n' +
      'a reading at the service alone.',
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
      const imported = await (await context.journal()).import(parsed.journal);
      await settleOpen(context);
      await context.out.item(imported, importedView);
    });
}

/**
 * Another account's machines never show up. Where neither side knew whose they are, the key tells,
 * then the service: of an account are what its key can read.
 */
async function refuseStrangers(exported: JournalExport, context: Context): Promise<void> {
  const journal = await context.journal();
  const { service } = await journal.owner();
  if (exported.service !== service) {
    throw usageError(
      `FILE: these are machines of ${exported.service}, and the service in force is ${service === '' ? 'not known' : service}`,
      'choose the profile that they belong to with --profile',
    );
  }
  const isOwn = (await journal.isOwn(exported)) ?? (await askWhose(exported, context));
  if (!isOwn) {
    throw usageError(
      exported.account === null
        ? 'FILE: it does not say of which account these machines are, and none of them can be read with the key in force'
        : 'FILE: these are machines of another account',
      exported.account === null
        ? 'run "gpucloud instances list" there, which finds out, and export again'
        : 'choose the profile that they belong to with --profile',
    );
  }
}

async function askWhose(exported: JournalExport, context: Context): Promise<boolean> {
  const journal = await context.journal();
  const api = await context.api();
  const fault = await learnAccount(api, context);
  const isOwn = await journal.isOwn(exported);
  if (isOwn !== undefined) return isOwn;
  if (exported.account !== null && fault !== undefined) throw fault;
  const ids = exported.machines.map(({ id }) => id);
  return exported.account === null && (await isAnyReadable(ids, api));
}
