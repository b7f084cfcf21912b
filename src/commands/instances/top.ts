import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { type CliError, worstOf } from '../../errors.ts';
import { readTop, type Top } from '../../idle/top.ts';
import { findInstances } from '../../instances/resolve.ts';
import { asItsJob } from '../../jobs/verbs/sign-in-of.ts';
import type { TopRow } from '../../json-results/instances.ts';
import type { Output } from '../../output/output.ts';
import { signInFinder } from '../../ssh/sign-in.ts';
import { howToReach, withSignInFlags } from '../../ssh/ssh-flags.ts';
import { intervalOption, watchOption } from '../../watch/flags.ts';
import { watch } from '../../watch/watch.ts';
import { cardRows, createLoadHistory, topBlocks, topView } from './top-view.ts';

export const top = verb({
  summary: 'Show GPU, CPU and memory use',
  tool: { allow: 'read' },
  view: topView,
  notes:
    'Shows one row per GPU, read over SSH: load, memory, temperature and power, and the ' +
    "instance's CPU, memory, disk and price. Without INSTANCE, shows all running instances. " +
    "Reads GPU values with nvidia-smi. Doesn't install anything on the instance.\n\n" +
    'Each instance must respond within 5 s. Otherwise its row shows the reason, and the command ' +
    'exits with the code of that failure.',
  completes: { '--user': 'nothing' },
  examples: [
    'gpucloud instances top',
    'gpucloud instances top trainer --watch',
    "gpucloud instances top --json | jq '.[].gpus[].utilization_percent'",
  ],
  takes: (command) =>
    withSignInFlags(
      command
        .argument('[instance...]', 'names or IDs (default: all running instances)')
        .addOption(watchOption())
        .addOption(intervalOption()),
    ),
  async run(context, typed, { watch: isWatched, interval, ...signIn }) {
    const how = await howToReach(signIn, context);
    const targets = typed.length === 0 ? [] : await findInstances(typed, context);
    const find = signInFinder(how, context, asItsJob(context));
    const one = targets.length === 1;
    const read = () => readTop(targets, find, context);
    if (isWatched === true) return watchTop(read, one, interval, context);
    const { rows, faults } = await read();
    await show(rows, one, context.out, context);
    const worst = worstOf(faults);
    if (worst === undefined) return;
    // The screen has already shown each reason.
    const silent = isScreen(rows, context.out);
    throw worst.with(unread(rows, faults), { silent });
  },
});

async function watchTop(
  read: () => Promise<Top>,
  one: boolean,
  interval: number,
  context: Context,
): Promise<void> {
  const history = createLoadHistory(context.clock);
  await watch(
    {
      async read() {
        const top = await read();
        history.add(top.rows);
        return top;
      },
      show: ({ rows }, out) =>
        isScreen(rows, out) ? out.screen(topBlocks(rows, history)) : show(rows, one, out, context),
      rows: ({ rows }) => forFormat(rows, context),
      view: topView,
      ...(one ? { one: true } : {}),
    },
    interval,
    context,
  );
}

async function show(
  rows: readonly TopRow[],
  one: boolean,
  out: Output,
  context: Context,
): Promise<void> {
  if (isScreen(rows, out)) return out.screen(topBlocks(rows));
  await out.list(forFormat(rows, context), topView, { one });
}

function isScreen(rows: readonly TopRow[], out: Output): boolean {
  return out.people && out.terminal && rows.length > 0;
}

/** JSON nests cards in their instance, unless columns were chosen. */
function forFormat(rows: readonly TopRow[], { out, flags }: Context) {
  const hasRows = ['table', 'csv', 'tsv'].includes(out.format) || flags.columns !== undefined;
  return hasRows && out.format !== 'id' ? cardRows(rows) : rows.map((instance) => ({ instance }));
}

function unread(rows: readonly TopRow[], faults: readonly CliError[]): string {
  const [first] = faults;
  if (rows.length === 1) return first?.message ?? '';
  return `Could not read ${faults.length} of ${rows.length} instances: ${first?.message}`;
}
