import { recoverLine } from '../../command-line/hints.ts';
import { OR_STDIN, severalGiven } from '../../command-line/input.ts';
import { checked } from '../../command-line/parse.ts';
import { showDone } from '../../command-line/several.ts';
import { verb } from '../../command-line/verb.ts';
import { AT_ONCE, eachBounded } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import { type CliError, ensureCliError, failuresOf, throwAll } from '../../errors.ts';
import type { Changed } from '../../instances/change/outcome.ts';
import type { Feature } from '../../instances/deadlines/armed.ts';
import { warnUnenforced } from '../../instances/deadlines/unenforced.ts';
import { createHandedOver, takeOver, warnOfLeftThere } from '../../instances/handed-over.ts';
import { readInstance } from '../../instances/read.ts';
import { journalOfKey } from '../../instances/recover/pending.ts';
import { reconcile } from '../../instances/recover/reconcile.ts';
import { overLimit } from '../../instances/rent/max-price.ts';
import type { Journal } from '../../journal/index.ts';
import { idKey, instanceId } from '../../rules/names.ts';
import { GONE, mayBill, UNREAD } from '../../rules/statuses.ts';
import { changedView } from './view.ts';

export const track = verb({
  summary: 'Add instances rented elsewhere',
  tool: { allow: 'all', idempotent: true },
  view: changedView,
  notes:
    'Instance IDs are in the web console. Reads each instance first; --force skips a ' +
    'failed read. If an instance has the name and time of an unresolved request, ' +
    'track asks whether it is the requested instance.\n\n' +
    '"-" also reads what "instances list --json" printed on another computer, and takes over ' +
    "deadlines and idle rules. It can't take over jobs, --rescue paths and requests with an " +
    'unknown outcome: each is a warning.',
  examples: [
    'gpucloud instances track 3f0c5c1e-8a51-4e0b-9c39-1f6f6a2b7d10',
    'gpucloud instances list --json | ssh other gpucloud instances track -',
  ],
  takes: (command) =>
    command
      .argument('<id...>', `instance IDs${OR_STDIN}`)
      .option('--force', "add the ID even if the instance can't be read"),
  async run(context, given, { force }) {
    const { rows, how } = createHandedOver();
    const typed = await severalGiven('ID', given, context, how);
    const ids = typed.map((id) => checked('ID', id, instanceId));
    const handed = rows.flatMap((row) => (row.id === null ? [] : { ...row, id: idKey(row.id) }));
    const wish = { ids: [...new Set(ids)], force: force === true, handed };
    // First, since a failure to track any instance must not hide what stays behind.
    warnOfLeftThere(rows, context);
    const { done, failed } = await trackAll(wish, context);
    await showDone({ typed: given, done, failed }, changedView, context);
  },
});

interface Wish {
  readonly ids: readonly string[];
  readonly force: boolean;
  /** What another computer's list says about these instances. */
  readonly handed: readonly Parameters<typeof takeOver>[0][];
}

async function trackAll({ ids, force, handed }: Wish, context: Context) {
  const api = await context.api();
  const journal = await journalOfKey(context);
  const known = await knownIds(journal);
  const failed: CliError[] = [];
  const tracked = await eachBounded(ids, AT_ONCE, async (id): Promise<Changed | undefined> => {
    const reading = await readInstance(id, api);
    if (reading.kind !== 'there' && !force) {
      failed.push(reading.fault);
      return undefined;
    }
    const seen = reading.kind === 'there' ? reading.instance : undefined;
    const unwritten = await failuresOf(journal.add(id, 'track', seen));
    if (unwritten.length > 0) {
      failed.push(...unwritten);
      return undefined;
    }
    if (reading.kind !== 'there') {
      const { kind, fault } = reading;
      context.err.warn('incomplete', `Tracked ${id} without reading it: ${fault.message}`);
      return { id, name: id, status: kind === 'gone' ? GONE : UNREAD };
    }
    const { name, status, paid_until } = reading.instance;
    if (known.has(id)) context.err.note(`Already tracked: ${name ?? id} (${id}).`);
    return { id, name: name ?? id, status, paid_until };
  });
  const rows = tracked.filter((row) => row !== undefined);
  if (rows.length === 0) throwAll(failed);
  await settleOpen(journal, context);
  const needed: Feature[] = [];
  await eachBounded(handed, AT_ONCE, async (one) => {
    const row = rows.find(({ id }) => id === one.id);
    if (row === undefined || !mayBill(row.status)) return;
    const taking = takeOver(one, journal, context).then((more) => needed.push(...more));
    failed.push(...(await failuresOf(taking)));
  });
  if (needed.length > 0) await warnUnenforced(needed, journal, context);
  // Reads deadlines now: a request that was just resolved passed its deadline to the instance.
  const ending = rows.map(async (row) => {
    const { deadline, if_idle } = await journal.ends(row.id);
    const rule = if_idle === undefined ? {} : { if_idle_seconds: if_idle.after / 1000 };
    return { ...row, ends_at: deadline ?? undefined, ...rule };
  });
  return { done: await Promise.all(ending), failed };
}

async function knownIds(journal: Journal): Promise<ReadonlySet<string>> {
  const { instances } = await journal.read({ archived: true });
  return new Set(instances.filter(({ untracked }) => !untracked).map(({ id }) => id));
}

/**
 * Resolves pending requests: a tracked instance often comes from a request whose response was lost.
 */
async function settleOpen(journal: Journal, context: Context): Promise<void> {
  try {
    const open = (await journal.requests()).filter(({ isInFlight }) => !isInFlight);
    for (const { request, instance, candidates } of await reconcile(open, journal, context)) {
      for (const { id } of candidates) {
        context.err.note(
          `${id} may be the instance of the unresolved request for ${request.name}. To resolve the request: ${recoverLine(request.name)}`,
        );
      }
      if (instance === undefined) continue;
      context.err.note(`Resolved the request for ${request.name}: it created ${instance.id}.`);
      const dear = mayBill(instance.status) ? overLimit(instance, request.max_price) : undefined;
      if (dear !== undefined)
        context.err.warn('price', `${dear.message} To terminate it: ${dear.hint}`);
    }
  } catch (error) {
    ensureCliError(error);
    context.err.warn(
      'incomplete',
      `Could not compare the instance with unresolved requests: ${error.message}`,
    );
  }
}
