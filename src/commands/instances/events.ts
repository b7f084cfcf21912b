import type { Api, InstanceEvent } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { count } from '../../rules/numbers.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { ruled } from '../kit/parse.ts';
import { verb } from '../kit/verb.ts';
import { findMachine } from './resolve.ts';
import { eventView } from './view.ts';

/** The page size that `--all` asks for; the service may give less (its maximum is not documented). */
const WHOLE_LOG_PAGE = 100;

export function registerEvents(group: AnyCommand, frame: Frame): void {
  verb(group, {
    name: 'events',
    view: eventView,
    summary: 'Show the event log of a machine, newest first',
    examples: [
      'gpucloud instances events trainer',
      'gpucloud instances events trainer --all -o jsonl',
    ],
  })
    .argument('<instance>', 'id, beginning of an id, or name')
    .option('--page <number>', 'which page', ruled('--page', count))
    .option('--limit <number>', 'events on a page', ruled('--limit', count))
    .option('--all', 'the whole log')
    .action((instance, flags, command) => events({ instance, ...flags }, frame.context(command)));
}

export interface EventsInput {
  readonly instance: string;
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
  readonly all?: true | undefined;
}

export async function events(input: EventsInput, context: Context): Promise<void> {
  if (input.all === true && input.page !== undefined) {
    throw usageError('--all and --page exclude each other');
  }
  const { id } = await findMachine(input.instance, context);
  const api = await context.api();
  if (input.all === true) {
    await context.out.list(wholeLog(api, id, input.limit ?? WHOLE_LOG_PAGE), eventView);
    return;
  }
  const { page, limit } = input;
  const answer = await api.instances.events(id, {
    ...(page === undefined ? {} : { page }),
    ...(limit === undefined ? {} : { limit }),
  });
  await context.out.list(answer.data, eventView);
  const { total_pages: pages, page: shown, total } = answer.meta;
  if (shown < pages) {
    context.err.note(
      `Page ${shown} of ${pages} (${total} events): --page ${shown + 1} for the next, --all for all.`,
    );
  }
}

/**
 * Reads page after page. Events that arrive meanwhile push older ones onto the next page, so those
 * seen before are left out. A log that was pruned meanwhile ends the walk on its empty page.
 */
async function* wholeLog(api: Api, id: string, limit: number): AsyncGenerator<InstanceEvent> {
  const seen = new Set<string>();
  for (let page = 1; ; page += 1) {
    const { data, meta } = await api.instances.events(id, { page, limit });
    for (const event of data) {
      if (!seen.has(event.id)) {
        seen.add(event.id);
        yield event;
      }
    }
    if (data.length === 0 || page >= meta.total_pages) {
      return;
    }
  }
}
