import type { InstanceEvent } from '../../api/index.ts';
import { Option } from '../../command-line/command.ts';
import {
  ensureKnownStatus,
  noteUndocumented,
  typesOf,
  wordOf,
} from '../../command-line/documented-words.ts';
import { OR_STDIN, severalGiven } from '../../command-line/input.ts';
import { noteOtherPages, pageView } from '../../command-line/pagination.ts';
import { needing, ruled } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { beginningAt, eachEvent } from '../../instances/event-log.ts';
import { followEvents } from '../../instances/follow-events.ts';
import { findInstances, type Target } from '../../instances/resolve.ts';
import { type Column, field, type View } from '../../output/output.ts';
import { count } from '../../rules/numbers.ts';
import { SECRETS } from '../../rules/secrets.ts';
import { INSTANCE_STATUSES } from '../../rules/statuses.ts';
import { pollInterval, since } from '../../rules/times.ts';

/** API document: Instance event. For several instances, each row names its instance. */
function viewOf(instances: readonly Target[]): View<InstanceEvent> {
  const names = new Map(instances.map(({ id, name }) => [id, name]));
  const instance: Column<InstanceEvent> = {
    id: 'instance',
    header: 'INSTANCE',
    least: Math.max(0, ...instances.map(({ name }) => name.length)),
    value: (event) => names.get(event.instance_id ?? '') ?? event.instance_id,
    ...(instances.length > 1 ? {} : { hidden: true }),
  };
  return {
    columns: [
      field('created_at', 'TIME', { kind: 'time' }),
      instance,
      field('type', 'TYPE', { kind: 'severity', least: 'STATUS_CHANGE'.length }),
      field('message', 'MESSAGE'),
      field('id', 'ID', { hidden: true }),
      field('instance_id', 'INSTANCE ID', { hidden: true }),
      {
        id: 'payload',
        header: 'PAYLOAD',
        value: (event) => (event.payload == null ? null : JSON.stringify(event.payload)),
        hidden: true,
      },
    ],
    id: (event) => event.id,
    empty: 'No events.',
    secrets: SECRETS.event,
  };
}

/** API document: Events. Accepts other types, since the service may add some. */
const TYPES = ['INFO', 'WARNING', 'ERROR', 'STATUS_CHANGE', 'BILLING'] as const;

/** Types other than statuses: waiting for one doesn't require reading the instance. */
const MERE_TYPES: readonly string[] = TYPES.filter((type) => type !== 'ERROR');

const STATUSES_AND_TYPES: readonly string[] = [...INSTANCE_STATUSES, ...MERE_TYPES];

/** Page size for a whole log. The service may return less; its maximum is undocumented. */
const WHOLE_LOG_PAGE = 100;

const DEFAULT_INTERVAL_MS = 2_000;

const ENDS = ['active', 'stopped', 'terminated', 'error', 'warning', 'billing'];

export const events = verb({
  summary: 'Show or follow the event log',
  tool: { allow: 'read', without: ['--until', '--poll-interval'] },
  view: viewOf([]),
  notes:
    'Prints the newest events first. With --follow, prints the whole log (or from --since) ' +
    'oldest first, then each new event once, until Ctrl-C or --until.\n\n' +
    'The service has no filters, so --since and --type read the full log and filter it on this computer.',
  completes: { '--type': { list: TYPES.map((type) => type.toLowerCase()) }, '--until': ENDS },
  ends: ['otherEnd'],
  examples: [
    'gpucloud instances events trainer',
    'gpucloud instances events trainer --all -o jsonl',
    'gpucloud instances events trainer --follow --since 10m',
    'gpucloud instances events trainer lab --follow --type error,warning',
    'gpucloud instances events trainer --follow --until terminated --json',
  ],
  takes: (command) =>
    command
      .argument('<instance...>', `names or IDs${OR_STDIN}`)
      .addOption(
        new Option('--page <number>', 'page to print')
          .argParser(ruled('--page', count))
          .conflicts(['follow', 'all', 'since', 'type']),
      )
      .option('--limit <number>', 'events per page', ruled('--limit', count))
      .addOption(new Option('--all', 'print the whole log').conflicts('follow'))
      .option(
        '--since <time>',
        'show events after this time (a date: its start, 10m: 10 minutes ago)',
        ruled('--since', since),
      )
      .option(
        '--type <types>',
        `${TYPES.join(', ').toLowerCase()}; separate several by commas`,
        typesOf(TYPES),
      )
      .option('-f, --follow', 'keep printing new events')
      .option(
        '--until <word>',
        'follow until all have this status or an event of this type',
        needing(
          '--follow',
          wordOf('--until', `must be a status or an event type, such as ${ENDS.join(', ')}`),
        ),
      )
      .option(
        '--resume <file>',
        'continue after the last event recorded in this file, and update the file',
        needing('--follow', (file: string) => file),
      )
      .addOption(
        new Option(
          '--poll-interval <duration>',
          'time between --follow requests; up to five times longer when no events arrive',
        )
          .default(DEFAULT_INTERVAL_MS, '2s')
          .argParser(needing('--follow', ruled('--poll-interval', pollInterval))),
      ),
  async run(context, instances, flags) {
    const { type, until, since, resume, limit = WHOLE_LOG_PAGE } = flags;
    noteUndocumented(type ?? [], TYPES, context);
    if (until !== undefined) {
      await ensureKnownStatus('--until', until, STATUSES_AND_TYPES, 'status or type', context);
    }
    const targets = await findInstances(
      await severalGiven('INSTANCE', instances, context),
      context,
    );
    const view = viewOf(targets);
    const beginning = since === undefined ? undefined : beginningAt(since, context);
    if (flags.follow === true) {
      const isStatus = until !== undefined && !MERE_TYPES.includes(until);
      const { pollInterval } = flags;
      return followEvents(
        { targets, limit, beginning, type, until, isStatus, resume, pollInterval, view },
        context,
      );
    }
    const [target, another] = targets;
    if (another !== undefined) {
      throw usageError('INSTANCE: several instances need --follow');
    }
    if (target === undefined) return context.out.list([], view);
    if (flags.all !== true && since === undefined && type === undefined) {
      return onePage(target, flags, context);
    }
    const rows = eachEvent(await context.api(), target.id, limit, beginning);
    await context.out.list(type === undefined ? rows : ofTypes(rows, type), view);
  },
});

async function onePage(
  target: Target,
  { page, limit }: { readonly page?: number; readonly limit?: number },
  context: Context,
): Promise<void> {
  const api = await context.api();
  const { meta, data } = await api.instances.events(target.id, {
    ...(page === undefined ? {} : { page }),
    ...(limit === undefined ? {} : { limit }),
  });
  const shown = { meta, rows: data.length, asked: page, what: 'events' };
  await context.out.list(data, pageView(viewOf([target]), shown));
  noteOtherPages(shown, context);
}

async function* ofTypes(
  rows: AsyncIterable<InstanceEvent>,
  types: readonly string[],
): AsyncGenerator<InstanceEvent> {
  for await (const row of rows) {
    if (types.includes(row.type ?? '')) yield row;
  }
}
