import type { Api, CallOptions, InstanceEvent } from '../../api/index.ts';
import { type AnyCommand, Option } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { type Moment, since } from '../../cli/moment.ts';
import { pageView, tellOtherPages } from '../../cli/one-page.ts';
import { brokenRule, ruled } from '../../cli/parse.ts';
import { OR_STDIN, severalGiven } from '../../cli/several.ts';
import { refuseMistyped, tellUndocumented, typesOf } from '../../cli/types.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { beginningAt } from '../../instances/estimated-time.ts';
import { findMachines, type Target } from '../../instances/resolve.ts';
import { pollInterval } from '../../rules/durations.ts';
import { count } from '../../rules/numbers.ts';
import { INSTANCE_STATUSES } from '../../rules/statuses.ts';
import { timeOf } from '../../watch/log-walk.ts';
import { eventView, viewOf } from './event-view.ts';

/** API document: Events. New types may come, so that others are let through. */
const TYPES = ['INFO', 'WARNING', 'ERROR', 'STATUS_CHANGE', 'BILLING'] as const;

const STATUSES_AND_TYPES: readonly string[] = [...INSTANCE_STATUSES, ...TYPES];

/** Types that are no status as well: to wait for one of them needs no look at the machine. */
export const MERE_TYPES: readonly string[] = TYPES.filter((type) => type !== 'ERROR');

/** The page size that a whole log is read with; the service may give less, its maximum is not documented. */
export const WHOLE_LOG_PAGE = 100;

const DEFAULT_INTERVAL_MS = 2_000;

const ENDS = ['active', 'stopped', 'terminated', 'error', 'warning', 'billing'];

export function registerEvents(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: eventView,
    notes:
      'With --follow it prints the whole log, or what came since --since, oldest first, and then each\n' +
      'new event, until Ctrl-C or --until. Each comes once; --json prints a line of JSON for each.\n' +
      'docs/events.md tells what is promised. The service has no filters: --since and --type read the\n' +
      'whole log and filter here.',
    completes: { '--type': { list: TYPES.map((type) => type.toLowerCase()) }, '--until': ENDS },
    ends: ['otherEnd'],
    examples: [
      'gpucloud instances events trainer',
      'gpucloud instances events trainer --all -o jsonl',
      'gpucloud instances events trainer --follow --since 10m',
      'gpucloud instances events trainer lab --follow --type error,warning --resume events.json',
      'gpucloud instances events trainer --follow --until terminated --json',
    ],
  })
    .argument('<instance...>', `ids, beginnings of ids, or names${OR_STDIN}`)
    .option('--page <number>', 'which page', ruled('--page', count))
    .option('--limit <number>', 'events on a page', ruled('--limit', count))
    .option('--all', 'the whole log')
    .option('--since <time>', 'from this date, time, or so long ago (10m)', ruled('--since', since))
    .option(
      '--type <types>',
      `${TYPES.join(', ').toLowerCase()}: one or more, by commas`,
      typesOf(TYPES),
    )
    .option('-f, --follow', 'go on with what happens, of one machine or several')
    .option('--until <word>', 'follow until all have this status, or an event of this type', ending)
    .option('--resume <file>', 'go on where the last follow with this file ended, and note how far')
    .addOption(
      new Option(
        '--poll-interval <duration>',
        'the time between two readings of --follow; up to five times that while nothing happens',
      )
        .default(DEFAULT_INTERVAL_MS, '2s')
        .argParser(ruled('--poll-interval', pollInterval)),
    )
    .action((instances, flags, command) => events({ instances, ...flags }, frame.context(command)));
}

/**
 * Statuses and types are the service's own words; new ones may come, so any word unlike them is
 * waited for.
 */
function ending(text: string): string {
  const word = text.toUpperCase().replaceAll('-', '_');
  if (!/^[A-Z_]{1,40}$/.test(word)) {
    throw brokenRule(
      '--until',
      text,
      `it is a status or a type of event, such as ${ENDS.join(', ')}`,
    );
  }
  refuseMistyped('--until', text, STATUSES_AND_TYPES);
  return word;
}

export interface EventsInput {
  readonly instances: readonly string[];
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
  readonly all?: true | undefined;
  readonly since?: Moment | undefined;
  /** Types in capital letters; none for all. */
  readonly type?: readonly string[] | undefined;
  readonly follow?: true | undefined;
  /** A status or a type in capital letters. */
  readonly until?: string | undefined;
  readonly resume?: string | undefined;
  /** Milliseconds. */
  readonly pollInterval: number;
}

export async function events(input: EventsInput, context: Context): Promise<void> {
  checkTogether(input);
  tellUndocumented(input.type ?? [], TYPES, context);
  const ends = input.until === undefined ? [] : [input.until];
  tellUndocumented(ends, STATUSES_AND_TYPES, context, 'status or type');
  if (input.follow === true) {
    const { followEvents } = await import('../../watch/follow-events.ts');
    return followEvents(input, context);
  }
  const targets = await findMachines(
    await severalGiven('INSTANCE', input.instances, context),
    context,
  );
  const [target, another] = targets;
  if (another !== undefined) {
    throw usageError('INSTANCE: the log of one machine at a time, but with --follow');
  }
  if (target === undefined) {
    return context.out.list([], eventView);
  }
  const isWhole = input.all === true || input.since !== undefined || input.type !== undefined;
  await (isWhole ? wholeLog : onePage)(target, input, context);
}

function checkTogether({ all, page, since, type, follow, until, resume }: EventsInput): void {
  const whole = [
    ...(follow === true ? ['--follow'] : []),
    ...(all === true ? ['--all'] : []),
    ...(since === undefined ? [] : ['--since']),
    ...(type === undefined ? [] : ['--type']),
  ];
  if (page !== undefined && whole.length > 0) {
    throw usageError(`${whole[0]} and --page exclude each other`);
  }
  if (follow === true) {
    if (all === true) throw usageError('--follow and --all exclude each other: it reads all first');
    return;
  }
  if (until !== undefined) throw usageError('--until goes with --follow');
  if (resume !== undefined) throw usageError('--resume goes with --follow');
}

async function onePage(
  target: Target,
  { page, limit }: EventsInput,
  context: Context,
): Promise<void> {
  const api = await context.api();
  const answer = await api.instances.events(target.id, {
    ...(page === undefined ? {} : { page }),
    ...(limit === undefined ? {} : { limit }),
  });
  const { meta, data } = answer;
  const shown = { meta, rows: data.length, asked: page, what: 'events' };
  await context.out.list(data, pageView(viewOf([target]), shown));
  tellOtherPages(shown, context);
}

async function wholeLog(target: Target, input: EventsInput, context: Context): Promise<void> {
  const { limit = WHOLE_LOG_PAGE, type, since } = input;
  const beginning = since === undefined ? undefined : beginningAt(since, context.clock);
  const chosen = ({ type: own }: InstanceEvent) => type === undefined || type.includes(own ?? '');
  const rows = eachEvent(await context.api(), target.id, {
    limit,
    from: () => beginning?.time() ?? Number.NEGATIVE_INFINITY,
    options: beginning === undefined ? {} : { onAnswer: beginning.onAnswer },
  });
  await context.out.list(filtered(rows, chosen), viewOf([target]));
}

async function* filtered(
  rows: AsyncIterable<InstanceEvent>,
  chosen: (event: InstanceEvent) => boolean,
): AsyncGenerator<InstanceEvent> {
  for await (const row of rows) {
    if (chosen(row)) yield row;
  }
}

/** So many events from before the beginning say that no others come; a few may be late ones. */
const BEFORE_THE_BEGINNING = 10;

/**
 * Reads page after page. Events that arrive meanwhile push older ones onto the next page, so those
 * seen before are left out. A log that was pruned meanwhile ends the walk on its empty page.
 */
async function* eachEvent(
  api: Api,
  id: string,
  { limit, from, options }: { limit: number; from(): number; options: CallOptions },
): AsyncGenerator<InstanceEvent> {
  const seen = new Set<string>();
  let before = 0;
  for (let page = 1; ; page += 1) {
    const { data, meta } = await api.instances.events(id, { page, limit }, options);
    for (const event of data) {
      if (seen.has(event.id)) continue;
      seen.add(event.id);
      const isBefore = (timeOf(event) ?? Number.POSITIVE_INFINITY) < from();
      before = isBefore ? before + 1 : 0;
      if (!isBefore) yield event;
    }
    if (data.length === 0 || page >= meta.total_pages || before >= BEFORE_THE_BEGINNING) {
      return;
    }
  }
}
