import type { CallOptions } from '../../api/index.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { armCommand, type Enforcement, readEnforcement } from '../../instances/deadlines/armed.ts';
import { otherAccounts } from '../../instances/other-accounts.ts';
import { payingAccount } from '../../instances/rent/account.ts';
import { isRented, readJobs } from '../../jobs/record/record.ts';
import { lostResults, openJob } from '../../jobs/verbs/rows.ts';
import type { Overview } from '../../json-results/money.ts';
import { type AccountReading, assertWhole, readAccount } from '../../money/account.ts';
import { findingsOf, lookAt } from '../../money/findings.ts';
import type { Output } from '../../output/output.ts';
import { gpucloudLine, withProfile } from '../../output/shell-line.ts';
import { intervalOption, watchOption } from '../../watch/flags.ts';
import { watch } from '../../watch/watch.ts';
import { mayBillIn, overviewOf, type Typed, UNENFORCED } from './overview.ts';
import { idView, statusBlocks, statusView } from './view.ts';

export const status = verb({
  summary: 'Show instances, drives, costs and problems',
  tool: { allow: 'read' },
  view: statusView,
  notes:
    "Shows the instances known to this computer, since the API can't list instances. The burn " +
    'rate adds up the prices of instances and drives.\n\n' +
    'Reports charges of the last 24 hours that known instances and drives do not explain. ' +
    "If a part can't be read, shows the rest and exits with the exit code of that error. " +
    '-q prints the IDs of instances that bill or may bill.',
  examples: [
    'gpucloud status',
    'gpucloud status --watch',
    'gpucloud status --json | jq -r .burn.per_hour',
    'gpucloud status -q',
  ],
  takes: (command) =>
    command
      .option('-a, --all', 'show all instances, drives and problems')
      .addOption(watchOption())
      .addOption(intervalOption()),
  run: async (context, { all = false, watch: isWatched, interval }) => {
    if (isWatched) return watchStatus(all, interval, context);
    const reading = await read({}, context);
    await show(await screenOf(reading, context), all, context.out, context);
    assertWhole(reading.faults);
  },
});

/** Warns about pending requests only with a list of IDs, since the screen shows them. */
function read(options: CallOptions, context: Context): Promise<AccountReading> {
  return readAccount(context, { quiet: context.out.format !== 'id', options });
}

interface Screen {
  readonly overview: Overview;
  readonly enforcement: Enforcement;
}

async function screenOf(reading: AccountReading, context: Context): Promise<Screen> {
  const enforcement = await readEnforcement({ account: reading.user?.id }, context);
  const { open: jobs, lost } = await jobsOf(reading, context);
  const others = await otherAccounts(context);
  const look = lookAt(reading, { enforcement, jobs, lost, others });
  const isUnenforced = findingsOf(look, UNENFORCED).length > 0;
  const arm = isUnenforced ? withProfile(await armCommand(context), context.flags.profile) : '';
  return {
    overview: overviewOf(look, {
      typed: typedIn(context),
      armCommand: arm,
    }),
    enforcement,
  };
}

/**
 * Reads the records of jobs that have not ended, and of those that lost results lately. Asks no
 * instance, since that needs a sign-in.
 */
async function jobsOf({ instances }: AccountReading, context: Context) {
  const jobs = (await readJobs(context)).filter(isRented);
  const statusOf = (own: string) => instances?.rows.find(({ id }) => id === own)?.status;
  const open = jobs
    .filter(({ ended_at }) => ended_at === null)
    .map((job) => openJob(job, statusOf(job.id), context));
  return { open: await Promise.all(open), lost: lostResults(jobs, context) };
}

/** Redraws the status. The screen lists unread parts, and the next refresh tries them again. */
async function watchStatus(all: boolean, interval: number, context: Context): Promise<void> {
  interface Reading extends Screen {
    readonly reading: AccountReading;
  }
  const watched = {
    async read(options: CallOptions): Promise<Reading> {
      const reading = await read(options, context);
      // Keeps the previous screen if nothing could be read, since the previous screen shows more.
      if (isNothingRead(reading)) assertWhole(reading.faults);
      return { reading, ...(await screenOf(reading, context)) };
    },
    show: (screen: Reading, out: Output) => show(screen, all, out, context),
    faultsIn: ({ reading: { faults, instances } }: Reading) => [
      ...faults.map(({ error }) => error),
      ...(instances?.faults ?? []),
    ],
  };
  if (context.out.format === 'id') {
    const rows = ({ overview }: Reading) => mayBillIn(overview.instances);
    return watch({ ...watched, rows, view: idView }, interval, context);
  }
  const rows = ({ overview }: Reading) => [overview];
  return watch({ ...watched, rows, view: statusView, one: true }, interval, context);
}

/** Whether only old states are known. Transactions alone show nothing. */
function isNothingRead({ user, drives, instances }: AccountReading): boolean {
  const read = instances === undefined ? 0 : instances.requested - instances.faults.length;
  return user === undefined && drives === undefined && read === 0;
}

function typedIn({ flags }: Context): Typed {
  return (words) => gpucloudLine(words, flags.profile);
}

async function show(
  { overview, enforcement }: Screen,
  all: boolean,
  out: Output,
  context: Context,
): Promise<void> {
  if (out.format === 'id') return out.list(mayBillIn(overview.instances), idView);
  if (!out.people) return out.item(overview, statusView);
  const account = await payingAccount(context);
  const isAll = all || !out.terminal;
  const how = { account, enforcement, all: isAll, typed: typedIn(context) };
  const blocks = statusBlocks(overview, how);
  return out.screen(blocks, Date.parse(overview.as_of));
}
