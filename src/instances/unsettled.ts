import { onCancel } from '../cli/confirm.ts';
import { shellLine } from '../cli/shell-line.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import type { UnknownRequest } from '../journal/index.ts';
import { instant, relative } from '../output/time.ts';
import { forgetLine } from './forget-line.ts';
import { WHAT } from './journaled-errors.ts';

/**
 * Keeps a thing from being asked for a second time while nobody knows what became of the first
 * request of its name: whether names are unique, and in which scope, is documented for no kind of
 * thing so that it could be relied upon (API document: POST /instances, POST /storage/drives).
 * A person is asked, and the answer is No by default; `-y` agrees.
 *
 * Throws CliError('outcomeUnknown') where nobody can be asked, before any request.
 */
export async function refuseUnsettled(
  what: 'machine' | 'drive',
  name: string,
  context: Context,
): Promise<void> {
  if (context.flags.yes === true) return;
  const { unknown, inFlight } = await (await context.journal()).read();
  const isSame = (open: UnknownRequest) => open.name === name && WHAT[open.operation] === what;
  const lost = unknown.find(isSame);
  const open = lost ?? inFlight.find(isSame);
  if (open === undefined) return;
  const told = `A ${what} "${name}" was asked for${timeWords(open, context)}, and ${
    lost === undefined ? 'the answer has not come yet' : 'whether it was made is not known'
  }: it may be billing.`;
  const prompts = await context.prompts();
  const next =
    lost === undefined
      ? 'its process still waits for the answer: run the command again in a while'
      : settling(lost, unknown);
  if (prompts === undefined) throw unsettled(told, name, next);
  context.err.warn(`${told} A second one would cost as much again.`);
  const question = `Ask for another ${what} "${name}" all the same?`;
  if (!(await onCancel('Nothing was sent.', () => prompts.confirm(question, false)))) {
    throw new CliError('interrupted', 'Not confirmed: nothing was sent.', { hint: next });
  }
}

function unsettled(told: string, name: string, next: string): CliError {
  return new CliError('outcomeUnknown', `${told} Nothing was sent now.`, {
    hint: `${next}; a second one all the same: --yes`,
    resource: name,
    mayBeBilling: true,
  });
}

/** What "recover" can't settle, such as a reorder, a person may: they can look at the service. */
function settling(lost: UnknownRequest, unknown: readonly UnknownRequest[]): string {
  const { name, operation } = lost;
  const named = name.startsWith('-') ? [] : [name];
  const forget = forgetLine(lost, unknown);
  const ways =
    WHAT[operation] === WHAT.create
      ? `gpucloud instances track ID if it is there, ${forget} if it is not`
      : `${forget} when you know what there is`;
  return `settle it first: ${shellLine(['gpucloud', 'instances', 'recover', ...named])}; where that can't: ${ways}`;
}

/** ` 2 h ago`; nothing where the journal's time can't be read. */
function timeWords({ asked_at }: UnknownRequest, { clock }: Context): string {
  const then = instant(asked_at);
  return then === undefined ? '' : ` ${relative(then, clock.now())}`;
}
