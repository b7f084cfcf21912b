import type { Api, Instance, InstanceEvent } from '../api/index.ts';
import { AT_ONCE, eachBounded } from '../concurrency.ts';
import type { Context } from '../context.ts';
import { asCliError, CliError, MAY_BILL, throwAll, usageError } from '../errors.ts';
import type { View } from '../output/output.ts';
import { gpucloud } from '../output/shell-line.ts';
import { local, spanText } from '../output/time.ts';
import { typedName } from '../rules/names.ts';
import { isTerminated } from '../rules/statuses.ts';
import { type Cursor, createCursor, type SavedCursor } from '../watch/cursor.ts';
import { type FollowedLog, type FollowReport, follow } from '../watch/follow.ts';
import { createFollower, type Follower } from '../watch/follower.ts';
import { openResumeFile, type ResumeFile } from '../watch/resume.ts';
import { LONGEST_WITHIN_MS } from '../watch/transient.ts';
import type { Beginning } from './event-log.ts';
import { instanceIn, readInstance } from './read.ts';
import { titled } from './rent/preflight.ts';
import type { Target } from './resolve.ts';

interface FollowInput {
  readonly targets: readonly Target[];
  /** Events per page. */
  readonly limit: number;
  /** Earliest event time to print; undefined for the whole log. */
  readonly beginning: Beginning | undefined;
  /** Types in uppercase; undefined for all. */
  readonly type: readonly string[] | undefined;
  /** Status or event type to wait for, in uppercase. */
  readonly until: string | undefined;
  /** Whether to read the instances as well, since `until` may be a status. */
  readonly isStatus: boolean;
  /** File with the position for the next run. */
  readonly resume: string | undefined;
  /** Milliseconds. */
  readonly pollInterval: number;
  readonly view: View<InstanceEvent>;
}

interface InstanceLog extends FollowedLog<InstanceEvent> {
  readonly target: Target;
  readonly cursor: Cursor;
}

/** Prints events as they arrive, until Ctrl-C or until every log is complete. */
export async function followEvents(input: FollowInput, context: Context): Promise<void> {
  refuseWholes(context);
  const { targets } = input;
  const resume = input.resume === undefined ? undefined : await openResumeFile(input.resume);
  const api = await context.api();
  const left = new AbortController();
  const signal = AbortSignal.any([context.signal, left.signal]);
  const otherEnds = new Map<string, CliError>();
  const logs = logsOf(targets, input, { api, signal, context, resume, otherEnds });
  const story = reporterOf(logs, context);
  let flush: () => Promise<boolean>;

  async function* rows(): AsyncGenerator<InstanceEvent> {
    const stream = follow<InstanceLog, InstanceEvent>({
      logs,
      clock: context.clock,
      signal,
      interval: input.pollInterval,
      each: (some, work) => eachBounded(some, AT_ONCE, work),
      shows: ({ type }) => input.type === undefined || input.type.some((one) => one === type),
      isLast: ({ type }) => input.until !== undefined && type?.toUpperCase() === input.until,
      flush: () => flush(),
      onTaken: async () => resume?.save(savedOf(logs)),
      report: story.report,
    });
    for await (const { log, event } of stream) {
      story.begin();
      // A column identifies the event's instance if there are several.
      yield event.instance_id == null ? { ...event, instance_id: log.target.id } : event;
    }
  }

  try {
    await context.out.list(rows(), input.view, {
      live: true,
      onFlush(given) {
        flush = given;
      },
    });
  } finally {
    story.begin();
    // Stops sleeping and reading when the command exits.
    left.abort();
  }
  if (context.signal.aborted) throw interrupted(input, targets, context);
  throwAll([...story.gone, ...otherEnds.values()]);
}

/** Rejects options that require a complete list. */
function refuseWholes({ flags }: Context): void {
  if (flags.sort !== undefined) {
    throw usageError("--sort can't be used with --follow, which sorts by time");
  }
  if (flags.query !== undefined) {
    throw usageError(
      "--query needs a complete list; it can't be used with --follow",
      'try -o jsonl | jq',
    );
  }
}

/** Saves only logs already started; the next run starts the others. */
function savedOf(logs: readonly InstanceLog[]): Map<string, SavedCursor> {
  const begun = logs.filter(({ cursor }) => cursor.begun);
  return new Map(begun.map(({ target, cursor }) => [target.id, cursor.saved()]));
}

interface Parts {
  readonly api: Api;
  readonly signal: AbortSignal;
  readonly context: Context;
  readonly resume: ResumeFile | undefined;
  /** By instance ID. */
  readonly otherEnds: Map<string, CliError>;
}

function logsOf(targets: readonly Target[], input: FollowInput, parts: Parts): InstanceLog[] {
  const { api, signal, context, resume } = parts;
  const { limit, beginning } = input;
  const options = { signal };
  // Limits pauses within a call. The first read has no limit, since nothing else would wait out a
  // longer pause.
  const later = { ...options, longestPauseMs: LONGEST_WITHIN_MS };
  return targets.map((target) => {
    const cursor = createCursor(resume?.of(target.id));
    const follower: Follower<InstanceEvent> = createFollower<InstanceEvent>({
      read: (page) =>
        api.instances.events(target.id, { page, limit }, follower.hasStarted() ? later : options),
      cursor,
      clock: context.clock,
      ...(beginning === undefined ? {} : { since: beginning }),
    });
    return {
      target,
      cursor,
      ...follower,
      ...(input.until !== undefined && input.isStatus
        ? { hasEnded: endOf(target, input.until, parts) }
        : {}),
    };
  });
}

/**
 * Whether an instance has the requested status. Reads the instance, since event texts often name
 * two statuses and the document does not say which is the new one.
 */
function endOf(
  target: Target,
  status: string,
  { api, signal, otherEnds }: Parts,
): () => Promise<boolean> {
  return async () => {
    const instance = instanceIn(await readInstance(target.id, api, { signal }));
    if (instance.status === status) return true;
    if (!isTerminated(instance.status)) return false;
    otherEnds.set(target.id, endedElsewhere(target, instance, status));
    return true;
  };
}

function endedElsewhere(target: Target, instance: Instance, wanted: string): CliError {
  const { id } = target;
  const who = titled({ id, name: instance.name ?? target.name });
  return new CliError('otherEnd', `${who} is ${instance.status} and will not reach ${wanted}.`, {
    resource: id,
  });
}

/** Reports problems on stderr while events are printed. */
function reporterOf(logs: readonly InstanceLog[], context: Context) {
  const { err, out } = context;
  const gone: CliError[] = [];
  const progress = err.progress(`${named(logs)}: reading the log`);
  let looks = 0;

  /** Stops the progress line, since it would interrupt the rows. */
  const begin = () => progress.done();

  const report: FollowReport<InstanceLog> = {
    lost(some, error) {
      begin();
      err.warn('retrying', `${error.message} Trying again; events of ${named(some)} are delayed.`);
    },
    back(after) {
      err.note(`The service is reachable again after ${spanText(Math.ceil(after / 1000))}.`);
    },
    gap({ target }, why, until) {
      begin();
      const before = local(until);
      err.warn(
        'incomplete',
        why === 'pruned'
          ? `${target.name}: the log no longer contains the last event shown, so events before ${before} may be missing.`
          : why === 'missing'
            ? `${target.name}: the service returned fewer events than it reports, so some are missing.`
            : `${target.name}: too many new events, so events before ${before} were skipped. To see all: ${gpucloud('instances', 'events', typed(target), '--all')}`,
      );
    },
    gone(_log, error) {
      begin();
      gone.push(error);
      if (logs.length > 1) err.warn('incomplete', `${error.message} Still following the others.`);
    },
    looked(shown) {
      begin();
      looks += 1;
      if (looks === 1 && shown === 0 && out.format === 'table') {
        err.note(`No events of ${named(logs)} yet. Press Ctrl-C to stop.`);
      }
    },
  };
  return { report, begin, gone };
}

function typed({ name, id }: Target): string {
  return typedName(name, id);
}

/** Returns as many names as fit on one line. */
function named(logs: readonly { readonly target: Target }[]): string {
  const names = logs.slice(0, 4).map(({ target }) => target.name);
  const others = logs.length - names.length;
  return names.join(', ') + (others > 0 ? ` and ${others} more` : '');
}

/**
 * Returns a silent error after Ctrl-C, the normal way to stop following. With --until, reports the
 * unfinished wait.
 */
function interrupted(
  { until }: FollowInput,
  targets: readonly Target[],
  context: Context,
): CliError {
  const reason = asCliError(context.signal.reason);
  if (until === undefined) {
    return reason.failure === 'interrupted'
      ? reason.with(reason.message, { silent: true })
      : reason;
  }
  const names = named(targets.map((target) => ({ target })));
  return reason.with(`${reason.message} Stopped waiting for ${until} of ${names}. ${MAY_BILL}`, {
    hint: `see it with "${gpucloud('instances', 'get', ...targets.map(typed))}"`,
    mayBeBilling: true,
  });
}
