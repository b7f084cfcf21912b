import { showDone } from '../../command-line/several.ts';
import type { Context } from '../../context.ts';
import type { CliError } from '../../errors.ts';
import { type Change, changeEach } from '../../instances/change/change.ts';
import type { Changed, Outcome } from '../../instances/change/outcome.ts';
import type { Chosen } from '../../instances/choose.ts';
import { changedView } from './view.ts';

/** Changes the chosen instances and prints the outcome. */
export async function change(
  what: Change,
  { typed, instances, left }: Chosen,
  wait: { until: string | undefined; waitTimeout: number; pollInterval: number },
  context: Context,
  newsOf?: (changed: Outcome['changed']) => Promise<Pick<News, 'facts' | 'note'>>,
): Promise<void> {
  const { until, waitTimeout: timeout, pollInterval: interval } = wait;
  const times = { timeout, interval };
  const accepted = new Set<string>();
  const onAccepted = (id: string) => {
    accepted.add(id);
    what.onAccepted?.(id);
  };
  const already = new Set<string>();
  const onAlready = (id: string) => void already.add(id);
  const all = { ...what, onAccepted, onAlready };
  const outcome = await changeEach(all, instances, { until, times }, context);
  const news = await newsOf?.(outcome.changed);
  // Omits instances reported in notes.
  const isNews = ({ id }: Changed) => !already.has(id) && (until !== undefined || accepted.has(id));
  await show(typed, outcome, context, { ...news, isNews, left });
}

interface News {
  /** Additional text per instance, by ID. */
  readonly facts?: ReadonlyMap<string, string> | undefined;
  /** Text below the lines of the instances. */
  readonly note?: string | undefined;
  isNews?(changed: Changed): boolean;
  readonly left?: readonly CliError[];
}

/** Prints one line per instance to a terminal, otherwise the table. */
export async function show(
  typed: readonly string[],
  { changed, failure }: Outcome,
  context: Context,
  { facts, note, isNews = () => true, left = [] }: News = {},
): Promise<void> {
  const { out, err } = context;
  const isPerson = out.people && out.terminal;
  for (const one of changed) {
    const more = facts?.get(one.id);
    if (more !== undefined || (isPerson && isNews(one))) {
      err.note(`${one.name} is ${one.status}.${more === undefined ? '' : ` ${more}`}`);
    }
  }
  if (note !== undefined) err.note(note);
  const failed = [...(failure === undefined ? [] : [failure]), ...left];
  await showDone({ typed, done: isPerson ? [] : changed, failed }, changedView, context);
}
