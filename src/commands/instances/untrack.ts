import { confirm } from '../../command-line/confirm.ts';
import { OR_STDIN, severalGiven } from '../../command-line/input.ts';
import { checked } from '../../command-line/parse.ts';
import { showDone } from '../../command-line/several.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, MAY_BILL } from '../../errors.ts';
import type { Changed } from '../../instances/change/outcome.ts';
import { findInstances } from '../../instances/resolve.ts';
import type { KnownInstance, OpenRequest } from '../../journal/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { instant, relative } from '../../output/time.ts';
import { inRoubles, priceIn } from '../../rules/money.ts';
import { isSameName, resourceId, typedName } from '../../rules/names.ts';
import { mayBill } from '../../rules/statuses.ts';
import { changedView } from './view.ts';

export const untrack = verb({
  summary: 'Remove from the list; billing continues',
  view: changedView,
  notes:
    'The instance keeps running and billing. "list --all" still shows it, and "track ID" ' +
    'adds it again. Asks first, unless the last known status is TERMINATED.\n\n' +
    'Identify an UNKNOWN request by its name or its UID from "recover --json".',
  examples: ['gpucloud instances untrack trainer', 'gpucloud instances untrack lost-box --yes'],
  takes: (command) => command.argument('<instance...>', `names, IDs, or request UIDs${OR_STDIN}`),
  async run(context, given) {
    const typed = await severalGiven('INSTANCE', given, context);
    const journal = await context.journal();
    const { instances, unknown } = await journal.read({ archived: true });
    const requestsOf = (text: string) =>
      unknown.filter(({ uid, name }) => uid === text || isSameName(name, text));
    // Requests may have names that instances can't have.
    const others = typed.filter((text) => requestsOf(text).length === 0);
    for (const text of others) checked('INSTANCE', text, resourceId);
    const targets = await findInstances(others, context, { changes: true });
    const known = targets.map(({ id, name }): KnownInstance => {
      const instance = instances.find((one) => one.id === id);
      if (instance !== undefined) return instance;
      throw new CliError('notFound', `No known instance "${name}".`, {
        resource: name,
        hint: `list known instances: ${gpucloud('instances', 'list', '--all')}`,
      });
    });
    const lost = [...new Set(typed.flatMap(requestsOf))];
    if (lost.length > 0 || known.some(({ archived }) => !archived)) {
      await confirm(context, () => questionOf(lost, known, context));
    }
    for (const { uid } of lost) await journal.forget(uid);
    for (const { id } of known) await journal.untrack(id);
    noteWhatIsLeft(known, context);
    const rows: Changed[] = [
      ...lost.map(({ uid, name }) => ({ id: uid, name, status: 'DISMISSED' })),
      ...known.map(({ id, name }) => ({ id, name, status: 'UNTRACKED' })),
    ];
    await showDone({ typed: given, done: rows, failed: [] }, changedView, context);
  },
});

/** Prints one line per item before the prompt, so that the prompt fits on one line. */
async function questionOf(
  lost: readonly OpenRequest[],
  instances: readonly KnownInstance[],
  context: Context,
): Promise<string> {
  const now = context.clock.now();
  const living = instances.filter(({ archived }) => !archived);
  const facts = [
    ...living.map((instance) => instanceFacts(instance, now)),
    ...lost.map(({ name, asked_at }) => `the request for ${name} (requested at ${asked_at})`),
  ];
  const bills = living.some(({ last }) => mayBill(last?.status));
  const fact = bills ? 'It keeps running and billing' : 'It may exist and be billing';
  const meaning =
    bills || lost.length > 0
      ? `${fact}, but gpucloud will no longer track it.`
      : 'If the termination fails, the instance bills again, and gpucloud will not show it.';
  if ((await context.prompts()) === undefined) return `Untrack ${facts.join(' and ')}? ${meaning}`;
  for (const fact of facts) context.err.note(`${fact}.`);
  context.err.note(meaning);
  return `Untrack ${[...living, ...lost].map(({ name }) => name).join(' and ')}?`;
}

/** Formats `trainer (ID, last seen ACTIVE 2 h ago, 89.90 ₽ per hour)`. */
function instanceFacts({ id, name, last }: KnownInstance, now: number): string {
  const seen = instant(last?.seen_at);
  const price = priceIn(last?.price_per_hour_snapshot);
  const facts = [
    ...(name === id ? [] : [id]),
    last === undefined
      ? 'never seen'
      : `last seen ${last.status}${seen === undefined ? '' : ` ${relative(seen, now)}`}`,
    ...(price === undefined ? [] : [`${inRoubles(price)} per hour`]),
  ];
  return `${name} (${facts.join(', ')})`;
}

/** Prints each ID once more, since the list no longer shows it. */
function noteWhatIsLeft(instances: readonly KnownInstance[], { err }: Context): void {
  for (const { id, name, last, deadline } of instances) {
    const back = `To track it again: ${gpucloud('instances', 'track', id)}`;
    const ends = deadline === undefined ? '' : ' Its deadline no longer applies.';
    if (!mayBill(last?.status)) {
      err.note(`Untracked ${name}; it was ${last?.status} when last seen. ${back}`);
    } else {
      err.warn(
        'may_be_billing',
        `Untracked ${name}.${ends} ${MAY_BILL} ${back}. To terminate it: ${gpucloud('instances', 'terminate', typedName(name, id))}`,
      );
    }
  }
}
