import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { oneOf } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, SeveralErrors } from '../../errors.ts';
import { learnAccount, tellMissing } from '../../instances/account.ts';
import { type AskedAgain, askAgain } from '../../instances/ask-again.ts';
import { type Evidence, type Finding, gatherEvidence } from '../../instances/evidence.ts';
import { costs, WHAT } from '../../instances/journaled-errors.ts';
import { keepToLimit, overLimit, tooDear } from '../../instances/max-price.ts';
import { lowestLimit } from '../../instances/recover-limit.ts';
import { stillUnknown, stillWaiting } from '../../instances/recover-unknown.ts';
import type { Known, UnknownRequest } from '../../journal/index.ts';
import type { Money } from '../../rules/money.ts';
import { type Recovered, recoveredView, viewOf } from './recover-view.ts';

const KINDS = {
  machine: WHAT.create,
  drive: WHAT.drive,
  'api-key': WHAT.api_key,
} as const;
type Kind = keyof typeof KINDS;
const KIND = oneOf('--kind', ['machine', 'drive', 'api-key']);

export function registerRecover(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: recoveredView,
    notes:
      'A request settles itself where a drive names its machine, or a reading shows one of its name that\n' +
      'lives and is no older. Where nothing is certain, a create can be made again under the same name,\n' +
      'which is unique at the service: that rents the machine now, or is refused since it exists. It is\n' +
      'asked for in a terminal, and done with --retry. A reorder is never made again: its new name need\n' +
      'not be unique. The lowest --max-price of the open requests of a name holds: a machine that is\n' +
      'rented now and costs more is terminated at once, one that is found is when it is confirmed (-y).\n' +
      'Drives and API keys are settled by their lists, where there are as many as were asked for.\n' +
      'Exit code 7 while anything stays unknown, and for a NAME whose request another process waits for.',
    completes: { name: 'nothing' },
    examples: [
      'gpucloud instances recover',
      'gpucloud instances recover trainer --kind machine --retry',
      'gpucloud instances recover --json',
    ],
  })
    .argument('[name...]', 'the names that were asked for; all of them without one')
    .option('--retry', 'make the same request again where nothing is certain')
    .option('--kind <kind>', 'only the requests for a machine, a drive or an api-key', KIND)
    .action((names, { retry, kind }, command) =>
      recover({ names, retry: retry === true, kind }, frame.context(command)),
    );
}

export interface RecoverInput {
  readonly names: readonly string[];
  /** The user agrees that a request which stays unknown is made again. */
  readonly retry: boolean;
  /** Only the requests that were to make one of these; all of them where it is undefined. */
  readonly kind?: Kind | undefined;
}

export async function recover(input: RecoverInput, context: Context): Promise<void> {
  const api = await context.api({ quiet: true });
  const fault = await learnAccount(api, context);
  const journal = await context.journal();
  const open = chosen(await journal.read(), input);
  const settling = settlingOf(open, input.retry, context);
  if (open.length > 0) {
    const evidence = await gatherEvidence(open, api, context);
    // The newest first: of two requests of one name, a machine comes rather of the later one.
    for (const request of [...open].reverse()) await settling.settle(request, evidence);
  }
  const { rows, errors } = settling;
  const isShort = await tellMissing(fault, context);
  await context.out.list(rows, viewOf(rows, isShort));
  const stillOpen = stillUnknown(rows);
  if (stillOpen !== undefined) errors.push(stillOpen);
  else if (isShort) errors.push(notAllSettled());
  const [first, ...others] = errors;
  if (first !== undefined)
    throw others.length === 0 ? first : new SeveralErrors([first, ...others]);
}

function settlingOf(open: readonly UnknownRequest[], retry: boolean, context: Context) {
  const rows: Recovered[] = [];
  const errors: CliError[] = [];
  /**
   * By name: what is said of the other creates that bear it. No name is asked for twice in one run.
   * Of a reorder, a drive or a key of that name nothing follows from it.
   */
  const asked = new Map<string, Omit<AskedAgain, 'error'>>();

  async function askOnce(request: UnknownRequest, evidence: Evidence): Promise<void> {
    const isCreate = request.operation === 'create';
    const before = isCreate ? asked.get(request.name) : undefined;
    if (before === undefined && !evidence.isWhole()) {
      rows.unshift(
        rowOf(request, 'unknown', 'not all could be read that may tell of it: try again'),
      );
      return;
    }
    const again: AskedAgain =
      before ?? (await askAgain(request, { retry, limit: limitOf(request) }, context));
    const { error, ...what } = again;
    const { id, note } = what;
    if (error !== undefined) errors.push(error);
    if (id === undefined) {
      rows.unshift(rowOf(request, 'unknown', note));
    } else {
      const reason = `the name was accepted again, for ${id}`;
      await (await context.journal()).resolve(request.uid, 'replaced', { reason });
      rows.unshift({
        ...rowOf(request, 'replaced', note, id),
        may_be_billing: error?.mayBeBilling ?? true,
      });
    }
    if (isCreate && what.isImpossible !== true) asked.set(request.name, what);
  }

  /** All of these are settled by a create that is made again now. */
  function limitOf({ name }: UnknownRequest): Money | undefined {
    return lowestLimit(open.filter((one) => one.operation === 'create' && one.name === name));
  }

  async function settle(request: UnknownRequest, evidence: Evidence): Promise<void> {
    const found = await evidence.find(request);
    if (found === undefined) {
      await askOnce(request, evidence);
    } else if (found.outcome === 'unknown') {
      rows.unshift(rowOf(request, 'unknown', found.words));
    } else {
      await settleAs(found, request);
    }
  }

  async function settleAs(found: Finding, request: UnknownRequest): Promise<void> {
    await (await context.journal()).resolve(request.uid, found.outcome, found.details);
    const error = await priceFault(found, context);
    if (error !== undefined) errors.push(error);
    const note = error === undefined ? found.words : `${found.words}; ${error.message}`;
    const row = rowOf(request, found.outcome, note, found.details.id);
    const bills = found.isOver === true ? false : (error?.mayBeBilling ?? row.may_be_billing);
    rows.unshift({ ...row, may_be_billing: bills });
  }

  return { rows, errors, settle };
}

/** What a machine costs too much; only one that came of the request is offered to be ended, or is (-y). */
async function priceFault(
  { outcome, instance, limit }: Finding,
  context: Context,
): Promise<CliError | undefined> {
  if (limit === undefined || instance === undefined) return undefined;
  if (outcome === 'rented') return keepToLimit(instance, limit, context);
  const found = tooDear(instance, limit);
  return found === undefined ? undefined : overLimit(instance, found);
}

function chosen(
  { unknown, inFlight }: Known,
  { names, kind }: RecoverInput,
): readonly UnknownRequest[] {
  const isOfKind = ({ operation }: UnknownRequest) =>
    kind === undefined || WHAT[operation] === KINDS[kind];
  const open = unknown.filter(isOfKind);
  for (const name of names) {
    if (open.some((request) => request.name === name)) continue;
    const waiting = inFlight.find((request) => request.name === name && isOfKind(request));
    if (waiting !== undefined) throw stillWaiting(waiting);
    const there = [...new Set(open.map((request) => request.name))].join(', ');
    const what = kind === undefined ? 'request' : `${KINDS[kind]} request`;
    throw new CliError(
      'notFound',
      `No ${what} of the name "${name}" has an unknown outcome; ${there === '' ? 'none has' : `these have: ${there}`}.`,
      { resource: name, hint: 'gpucloud instances list shows what is known' },
    );
  }
  return open.filter(({ name }) => names.length === 0 || names.includes(name));
}

function rowOf(
  { uid, name, operation, asked_at, offer_id, candidates }: UnknownRequest,
  outcome: Recovered['outcome'],
  note: string,
  id: string | undefined = undefined,
): Recovered {
  return {
    uid,
    name,
    operation,
    asked_at,
    offer_id,
    outcome,
    id: id ?? null,
    may_be_billing: costs(operation) && (outcome === 'unknown' || id !== undefined),
    note: outcome === 'unknown' ? `${note}${namedWords(candidates)}` : note,
  };
}

/** Ids of an answer that could not be trusted: a person may know what a program can't. */
function namedWords(candidates: readonly string[]): string {
  return candidates.length === 0 ? '' : `; its answer named ${candidates.join(' and ')}`;
}

/** What belongs to this account is settled; what may belong to it is not. */
function notAllSettled(): CliError {
  return new CliError(
    'outcomeUnknown',
    'Not all that was asked for on this computer could be looked at; some of it may be billing.',
    { mayBeBilling: true, hint: 'run it again, or with the other key: gpucloud instances recover' },
  );
}
