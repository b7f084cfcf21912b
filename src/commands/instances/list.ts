import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { type CliError, throwAll, worstOf } from '../../errors.ts';
import { deadlineHeader, readEnforcement } from '../../instances/deadlines/armed.ts';
import {
  drivesUnread,
  type KnownInstances,
  type Listed,
  readKnownInstances,
} from '../../instances/known-instances.ts';
import { newestFirst } from '../../instances/newest-first.ts';
import { warnOfOtherAccounts } from '../../instances/other-accounts.ts';
import { exactCosts } from '../../jobs/end/cost.ts';
import { readJobs } from '../../jobs/record/record.ts';
import { costEstimate } from '../../money/by-instance.ts';
import type { Output } from '../../output/output.ts';
import { isTerminated } from '../../rules/statuses.ts';
import { intervalOption, watchOption } from '../../watch/flags.ts';
import { watch } from '../../watch/watch.ts';
import { listedView, peopleView } from './listed-view.ts';

export const list = verb({
  aliases: ['ls'],
  summary: 'List instances known to this computer',
  tool: { allow: 'read' },
  view: listedView,
  notes:
    "The API can't list instances. Lists instances this computer rented or tracks, and those " +
    'attached to drives, newest first. Reads the current state of each. UNKNOWN marks a request ' +
    'without a response, IN_FLIGHT a request that another process is sending, and GONE an ' +
    'instance that the service does not find. --all also estimates the cost of each: its price ' +
    'times the hours since creation, also while stopped.\n\n' +
    'If a read fails, the row shows the last known values and "unread", and the command exits ' +
    'with the code of the failure.',
  examples: [
    'gpucloud instances list',
    'gpucloud instances list --all --json',
    'gpucloud instances list --watch',
  ],
  takes: (command) =>
    command
      .option('-a, --all', 'include terminated instances')
      .addOption(watchOption())
      .addOption(intervalOption()),
  run: (context, { all, watch: isWatched, interval }) =>
    isWatched === true
      ? watchAll(all === true, interval, context)
      : listOnce(all === true, context),
});

async function listOnce(all: boolean, context: Context): Promise<void> {
  const api = await context.api();
  const known = await readKnownInstances(
    { all, drives: api.drives.list(), now: context.clock.now() },
    api,
    context,
  );
  const rows = (await withCosts(known.rows, all, context)).filter(
    (row) => all || !isTerminated(row.status),
  );
  const shown = context.out.people ? rows : await withJobs(rows, context);
  await show(shown, all, context.out, context);
  await warnOfOtherAccounts(context);
  const { driveFault } = known;
  const worst = worstOf(known.faults);
  throwAll([
    ...(worst === undefined ? [] : [worst.with(foundUnread(known))]),
    ...(driveFault === undefined ? [] : [driveFault.with(drivesUnread(driveFault))]),
  ]);
}

/** Adds the costs. With --all, which shows them, also notes those that may count too much time. */
async function withCosts(
  rows: readonly Listed[],
  all: boolean,
  context: Context,
): Promise<readonly Listed[]> {
  const exact = await exactCosts(rows, context);
  const now = context.serviceClock.now();
  return rows.map((row) => {
    const cost = costEstimate(row, now, exact);
    const notes = [row.note, ...(all && cost.was_stopped ? [STOPPED] : [])].filter(Boolean);
    const note = notes.length === 0 ? {} : { note: notes.join('; ') };
    return { ...row, ...cost, ...note };
  });
}

const STOPPED = 'was stopped, which its cost may count too';

/** Marks instances whose job only this computer can finish, for `track -` on another computer. */
async function withJobs(rows: readonly Listed[], context: Context): Promise<readonly Listed[]> {
  const open = (await readJobs(context)).filter(({ ended_at }) => ended_at === null);
  const ids = new Set(open.map(({ id }) => id));
  return rows.map((row) => (row.id !== null && ids.has(row.id) ? { ...row, has_job: true } : row));
}

/**
 * Watches the list. Keeps showing an instance that was terminated during the watch, without reading
 * it again.
 */
async function watchAll(all: boolean, interval: number, context: Context): Promise<void> {
  const api = await context.api();
  // Sorts rows newest first at each read, as without --watch.
  const shown = new Map<string, Listed>();
  const lastRead = new Map<string | null, Listed>();
  await watch(
    {
      async read(options) {
        const ended = [...shown.values()].filter(({ status }) => isTerminated(status));
        const except = new Set(ended.map(({ id }) => id));
        const drives = api.drives.list(options);
        const how = { all, except, drives, now: context.clock.now(), options };
        const read = await readKnownInstances(how, api, context);
        const known = { ...read, rows: await withCosts(read.rows, all, context) };
        // Keeps the previous view with its age if every read failed.
        if (known.faults.length > 0 && known.faults.length === known.requested) {
          throw longestAsking(faultsIn(known));
        }
        const found = new Map(known.rows.map((row) => [row.id, row]));
        for (const id of shown.keys()) {
          if (!found.has(id) && !except.has(id)) shown.delete(id);
        }
        for (const [id, row] of found) {
          const isWanted = all || !isTerminated(row.status) || shown.has(id ?? '');
          if (id !== null && isWanted) shown.set(id, row);
        }
        const lost = known.rows.filter(({ id }) => id === null);
        return { ...known, rows: [...lost, ...newestFirst([...shown.values()])] };
      },
      show: ({ rows }, out) => show(rows, all, out, context),
      // Ignores rows that can't be read now when looking for changes.
      rows: ({ rows }) =>
        rows.map((row) => {
          if (row.unread === true) return lastRead.get(row.id) ?? row;
          lastRead.set(row.id, row);
          return row;
        }),
      view: listedView,
      faultsIn,
      warnings: (known) =>
        [
          ...(known.driveFault === undefined ? [] : [drivesUnread(known.driveFault)]),
          ...(known.faults.length === 0 ? [] : [foundUnread(known)]),
        ].map((message) => ({ code: 'incomplete', message })),
    },
    interval,
    context,
  );
}

function faultsIn({ faults, driveFault }: KnownInstances): readonly CliError[] {
  return driveFault === undefined ? faults : [...faults, driveFault];
}

/** Returns the fault with the longest Retry-After, for the next read to honour. */
function longestAsking(faults: readonly CliError[]): CliError | undefined {
  return [...faults].sort((a, b) => (b.retryAfterMs ?? 0) - (a.retryAfterMs ?? 0))[0];
}

async function show(
  rows: readonly Listed[],
  all: boolean,
  out: Output,
  context: Context,
): Promise<void> {
  if (out.format !== 'table') return out.list(rows, listedView);
  const header = await endsHeaderOf(rows, context);
  await out.list(rows, peopleView(rows, all, header));
}

/** Returns the header of the deadlines; undefined if there are none. */
async function endsHeaderOf(
  rows: readonly Listed[],
  context: Context,
): Promise<string | undefined> {
  if (rows.every(({ ends_at }) => ends_at === null)) return undefined;
  const account = await (await context.journal()).account();
  return deadlineHeader(await readEnforcement({ account }, context));
}

function foundUnread({ faults, requested }: KnownInstances): string {
  return `Could not read ${faults.length} of ${requested} instances, shown with their last known state: ${faults[0]?.message}`;
}
