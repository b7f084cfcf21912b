import type { AnyCommand } from '../../cli/command.ts';
import { confirm } from '../../cli/confirm.ts';
import type { Frame } from '../../cli/frame.ts';
import { OR_STDIN, severalGiven } from '../../cli/input.ts';
import { checked } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { untrackLine } from '../../instances/forget-line.ts';
import { WHAT } from '../../instances/journaled-errors.ts';
import { findInstances } from '../../instances/resolve.ts';
import type { Changed } from '../../instances/waiting.ts';
import type { KnownInstance, UnknownRequest } from '../../journal/index.ts';
import { instant, relative } from '../../output/time.ts';
import { resourceId } from '../../rules/ids.ts';
import { kopecksText, money } from '../../rules/money.ts';
import { isTerminated } from '../../rules/statuses.ts';
import { changedView } from './view.ts';

export function registerUntrack(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: changedView,
    notes:
      'The machine itself goes on, and costs what it costs: it asks before it takes out one that was not\n' +
      'last seen TERMINATED (-y says yes). What is known of it is kept: "list --all" shows it, "track ID"\n' +
      'takes it back. An UNKNOWN is named by the name that was asked for, or by its uid ("recover --json"),\n' +
      'as it must be where a machine, a drive or an API key of one name are open together.',
    examples: ['gpucloud instances untrack trainer', 'gpucloud instances untrack lost-box --yes'],
  })
    .argument('<instance...>', `ids, beginnings of ids, names, or uids of requests${OR_STDIN}`)
    .action((instances, _flags, command) => untrack(instances, frame.context(command)));
}

export async function untrack(given: readonly string[], context: Context): Promise<void> {
  const typed = await severalGiven('INSTANCE', given, context);
  const journal = await context.journal();
  const own = await journal.unknown();
  // A key that is lost for good has nobody else to forget its requests. One of a name that is open
  // here too stays: it may be of another account, which still looks for its machine.
  const strange = (await journal.strangers())
    .flatMap((stranger) => stranger.unknown)
    .filter(({ name }) => !own.some((request) => request.name === name));
  const unknown = [...own, ...strange];
  // A drive, or a key, that was asked for may have a name that no machine has: with a space, say.
  const lostBy = new Map(typed.map((text) => [text, requestsOf(text, unknown)]));
  const others = typed.filter((text) => lostBy.get(text)?.length === 0);
  for (const text of others) checked('INSTANCE', text, resourceId);
  const { instances: machines } = await journal.read({ archived: true });
  const targets = await findInstances(others, context, { changes: true });
  const known = targets.map(({ id, name }): KnownInstance => {
    const machine = machines.find((one) => one.id === id);
    if (machine !== undefined) return machine;
    throw new CliError('notFound', `No machine "${name}" is known here.`, {
      resource: name,
      hint: 'gpucloud instances list --all shows those that are',
    });
  });
  const lost = [...new Set([...lostBy.values()].flat())];
  const costly = known.filter(mayBill);
  if (lost.length + costly.length > 0) {
    await confirm(context, () => questionOf(lost, costly, context));
  }
  for (const { uid } of lost) {
    await journal.resolve(uid, 'dismissed', { reason: 'untracked' });
  }
  for (const { id } of known) {
    await journal.untrack(id);
  }
  tellWhatIsLeft(known, context);
  const rows: Changed[] = [
    ...lost.map(({ uid, name }) => ({ id: uid, name, status: 'DISMISSED' })),
    ...known.map(({ id, name }) => ({ id, name, status: 'UNTRACKED' })),
  ];
  await context.out.list(rows, changedView);
}

/**
 * The open requests that a word of the user means: the one of that uid, or all of that name where
 * they are of one kind. A drive may bear the name of a machine, and whoever knows that the one was
 * not made must not lose sight of the other: throws a usage error that tells them apart.
 */
function requestsOf(typed: string, unknown: readonly UnknownRequest[]): readonly UnknownRequest[] {
  const exact = unknown.filter(({ uid }) => uid === typed);
  if (exact.length > 0) return exact;
  const named = unknown.filter(({ name }) => name === typed);
  const kinds = groupsOf(named);
  if (kinds.length < 2) return named;
  const ways = kinds.map(
    (group) => `${kindOf(group[0])}: ${untrackLine(group.map(({ uid }) => uid))}`,
  );
  throw usageError(
    `INSTANCE "${typed}": requests of several kinds have this name; each is forgotten by its uid: ${ways.join('; ')}`,
  );
}

/**
 * A machine that was taken out before loses nothing more. One that the service did not find (GONE)
 * counts as one that may bill: a 404 alone ends nothing (design: The journal).
 */
function mayBill({ archived }: KnownInstance): boolean {
  return !archived;
}

/** A person reads a line of facts for each first, so that the question fits a line. */
async function questionOf(
  lost: readonly UnknownRequest[],
  machines: readonly KnownInstance[],
  context: Context,
): Promise<string> {
  const now = context.clock.now();
  const facts = machines.map((machine) => machineWords(machine, now));
  const groups = groupsOf(lost);
  const requests = groups.map((group) => `${requestWords(group)} (${timesOf(group)})`);
  const meaning = `${machines.length === 0 ? 'What was asked for may exist and be billing' : 'What is there goes on and bills'}, and nothing here will say so any more.`;
  if ((await context.prompts()) === undefined) return `${asked(facts, requests)} ${meaning}`;
  for (const line of facts) context.err.note(`${line}.`);
  for (const group of groups) {
    const these = group.length === 1 ? 'This is' : 'These are';
    context.err.note(`${these} ${requestWords(group)} (${timesOf(group)}).`);
  }
  context.err.note(meaning);
  return asked(
    machines.map(({ name }) => name),
    groups.map(requestWords),
  );
}

function asked(machines: readonly string[], requests: readonly string[]): string {
  const all = [...machines, ...requests].join(' and ');
  return requests.length === 0 ? `Take ${all} out of the list?` : `Forget ${all}?`;
}

/** `trainer (ID, last seen ACTIVE 2 h ago, 89.90 RUB an hour)` */
function machineWords({ id, name, last }: KnownInstance, now: number): string {
  const seen = instant(last?.seen_at ?? '');
  const price = money(last?.price_per_hour ?? '');
  const facts = [
    ...(name === id ? [] : [id]),
    last === undefined
      ? 'never seen'
      : `last seen ${last.status}${seen === undefined ? '' : ` ${relative(seen, now)}`}`,
    ...(price.ok ? [`${kopecksText(price.value)} RUB an hour`] : []),
  ];
  return `${name} (${facts.join(', ')})`;
}

type Group = readonly [UnknownRequest, ...UnknownRequest[]];

/** Those that one name means together: of one kind. */
function groupsOf(requests: readonly UnknownRequest[]): readonly Group[] {
  const groups = new Map<string, [UnknownRequest, ...UnknownRequest[]]>();
  for (const request of requests) {
    const key = `${kindOf(request)} ${request.name}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [request]);
    else group.push(request);
  }
  return [...groups.values()];
}

/** `the request for the drive data`, `2 requests for the machine trainer` */
function requestWords([first, ...more]: Group): string {
  const count = more.length === 0 ? 'the request' : `${more.length + 1} requests`;
  return `${count} for ${the(first)}`;
}

/** A torn file keeps neither the name nor the kind of what was asked for. */
function the(request: UnknownRequest): string {
  return request.isSpoilt === true ? request.name : `the ${kindOf(request)} ${request.name}`;
}

function kindOf({ operation }: UnknownRequest): string {
  return WHAT[operation];
}

function timesOf(group: Group): string {
  return `asked for at ${group.map(({ asked_at }) => asked_at).join(' and ')}`;
}

/** The list was the place where the id was found, so the last words hold it. */
function tellWhatIsLeft(machines: readonly KnownInstance[], { err }: Context): void {
  for (const { id, name, last } of machines) {
    const back = `To take it back: gpucloud instances track ${id}`;
    if (isTerminated(last?.status)) {
      err.note(`${name} is out of the list; it was TERMINATED when last seen. ${back}`);
    } else {
      err.warn(
        `${name} is out of the list, and goes on as before: if it runs it is billing. ${back}. To end it: gpucloud instances terminate ${id}`,
      );
    }
  }
}
