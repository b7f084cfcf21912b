import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { UnknownRental } from '../../rentals/index.ts';
import { resourceId } from '../../rules/ids.ts';
import type { AnyCommand } from '../kit/command.ts';
import { confirm } from '../kit/confirm.ts';
import type { Frame } from '../kit/frame.ts';
import { checked } from '../kit/parse.ts';
import { OR_STDIN, severalGiven } from '../kit/several.ts';
import { describe } from '../kit/verb.ts';
import { findMachines, type Target } from './resolve.ts';
import { type Changed, changedView } from './view.ts';

export function registerUntrack(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: changedView,
    notes:
      'The machine itself goes on, and costs what it costs. What is known of it is kept: "list --all"\n' +
      'shows it, "track" takes it back. An UNKNOWN is named by the name that was asked for.',
    examples: ['gpucloud instances untrack trainer', 'gpucloud instances untrack lost-box --yes'],
  })
    .argument('<instance...>', `ids, beginnings of ids, or names${OR_STDIN}`)
    .action((instances, _flags, command) => untrack(instances, frame.context(command)));
}

export async function untrack(given: readonly string[], context: Context): Promise<void> {
  const typed = await severalGiven('INSTANCE', given, context);
  for (const text of typed) checked('INSTANCE', text, resourceId);
  const rentals = await context.rentals();
  const own = await rentals.unknown();
  // A key that is lost for good has nobody else to forget its requests. One of a name that is open
  // here too stays: it may be of another account, which still looks for its machine.
  const strange = (await rentals.strangers())
    .flatMap((stranger) => stranger.unknown)
    .filter(({ name }) => !own.some((request) => request.name === name));
  const unknown = [...own, ...strange];
  const { machines } = await rentals.read({ archived: true });
  const targets = await findMachines(
    typed.filter((text) => !unknown.some(({ name }) => name === text)),
    context,
  );
  for (const { id, name } of targets) {
    if (!machines.some((machine) => machine.id === id)) {
      throw new CliError('notFound', `No machine "${name}" is known here.`, {
        resource: name,
        hint: 'gpucloud instances list --all shows those that are',
      });
    }
  }
  const lost = unknown.filter(({ name }) => typed.includes(name));
  if (lost.length > 0) {
    await confirm(
      context,
      `Forget ${lost.map(wordsOf).join(' and ')}? What was asked for may exist and be billing, and nothing here will say so any more.`,
    );
  }
  for (const { uid } of lost) {
    await rentals.resolve(uid, 'dismissed', { reason: 'untracked' });
  }
  for (const { id } of targets) {
    await rentals.untrack(id);
  }
  tellBilling(targets, context);
  const rows: Changed[] = [
    ...lost.map(({ uid, name }) => ({ id: uid, name, status: 'DISMISSED' })),
    ...targets.map(({ id, name }) => ({ id, name, status: 'UNTRACKED' })),
  ];
  await context.out.list(rows, changedView);
}

function wordsOf({ name, asked_at }: UnknownRental): string {
  return `the request for ${name} (asked for at ${asked_at})`;
}

function tellBilling(targets: readonly Target[], { err }: Context): void {
  for (const { id, name } of targets) {
    err.warn(
      `${name} is out of the list, and goes on as before: if it runs it is billing. To end it: gpucloud instances terminate ${id}`,
    );
  }
}
