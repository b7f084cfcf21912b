import type { Context } from '../../context.ts';
import { CliError, SeveralErrors } from '../../errors.ts';
import type { View } from '../../output/output.ts';
import type { UnknownRental } from '../../rentals/index.ts';
import { learnAccount, tellMissing } from '../kit/account.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { describe } from '../kit/verb.ts';
import { type AskedAgain, askAgain, ceilingOf } from './ask-again.ts';
import { type Evidence, type Finding, gatherEvidence } from './evidence.ts';
import { keepToLimit } from './max-price.ts';

export function registerRecover(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: recoveredView,
    notes:
      'A request settles itself where a drive names its machine, or a reading shows one of its name that\n' +
      'lives and is no older. Where nothing is certain, a create can be made again under the same name,\n' +
      'which is unique at the service: that rents the machine now, or is refused since it exists. It is\n' +
      'asked for in a terminal, and done with --retry. A reorder is never made again: its new name need\n' +
      'not be unique. The --max-price of the request holds: a machine that is rented now and costs more\n' +
      'is terminated at once, one that is found is when it is confirmed (-y). Exit code 7 while anything\n' +
      'stays unknown.',
    completes: { name: 'nothing' },
    examples: [
      'gpucloud instances recover',
      'gpucloud instances recover trainer --retry',
      'gpucloud instances recover --json',
    ],
  })
    .argument('[name...]', 'the names that were asked for; all of them without one')
    .option('--retry', 'make the same request again where nothing is certain')
    .action((names, flags, command) =>
      recover({ names, retry: flags.retry === true }, frame.context(command)),
    );
}

export interface RecoverInput {
  readonly names: readonly string[];
  /** The user agrees that a request which stays unknown is made again. */
  readonly retry: boolean;
}

/** What became of a request. */
export interface Recovered {
  readonly name: string;
  readonly operation: string;
  readonly asked_at: string;
  readonly offer_id: string | null;
  readonly outcome: Finding['outcome'] | 'unknown';
  /** The machine's, where it is known. */
  readonly id: string | null;
  readonly may_be_billing: boolean;
  readonly note: string;
}

export const recoveredView: View<Recovered> = {
  columns: [
    { id: 'name', header: 'NAME', value: (row) => row.name },
    { id: 'outcome', header: 'OUTCOME', value: (row) => row.outcome.toUpperCase() },
    { id: 'id', header: 'ID', value: (row) => row.id },
    { id: 'asked_at', header: 'ASKED', kind: 'time', value: (row) => row.asked_at },
    { id: 'note', header: 'NOTE', value: (row) => row.note },
    { id: 'operation', header: 'OPERATION', value: (row) => row.operation, hidden: true },
    { id: 'offer_id', header: 'OFFER', value: (row) => row.offer_id, hidden: true },
  ],
  id: (row) => row.id,
  empty: 'The outcome of every request is known.',
};

/** Others may be this account's, which was said just before. */
const OF_THIS_KEY = 'No request that was made with this key has an unknown outcome.';

export async function recover({ names, retry }: RecoverInput, context: Context): Promise<void> {
  const api = await context.api({ quiet: true });
  const fault = await learnAccount(api, context);
  const rentals = await context.rentals();
  const open = chosen(await rentals.unknown(), names);
  const settling = settlingOf(retry, context);
  if (open.length > 0) {
    const evidence = await gatherEvidence(open, api, context);
    // The newest first: of two requests of one name, a machine comes rather of the later one.
    for (const request of [...open].reverse()) await settling.settle(request, evidence);
  }
  const { rows, errors } = settling;
  const isShort = await tellMissing(fault, context);
  await context.out.list(rows, isShort ? { ...recoveredView, empty: OF_THIS_KEY } : recoveredView);
  const stillOpen = openOf(rows);
  if (stillOpen !== undefined) errors.push(stillOpen);
  else if (isShort) errors.push(notAllSettled());
  const [first, ...others] = errors;
  if (first !== undefined)
    throw others.length === 0 ? first : new SeveralErrors([first, ...others]);
}

function settlingOf(retry: boolean, context: Context) {
  const rows: Recovered[] = [];
  const errors: CliError[] = [];
  /** By name: what is said of the others that bear it. No name is asked for twice in one run. */
  const asked = new Map<string, Omit<AskedAgain, 'error'>>();

  async function askOnce(request: UnknownRental, evidence: Evidence): Promise<void> {
    const before = asked.get(request.name);
    if (before === undefined && !evidence.isWhole()) {
      rows.unshift(
        rowOf(request, 'unknown', 'not all could be read that may tell of it: try again'),
      );
      return;
    }
    const again: AskedAgain = before ?? (await askAgain(request, retry, context));
    const { error, ...what } = again;
    const { id, note } = what;
    if (error !== undefined) errors.push(error);
    if (id === undefined) {
      rows.unshift(rowOf(request, 'unknown', note));
    } else {
      const reason = `the name was accepted again, for ${id}`;
      await (await context.rentals()).resolve(request.uid, 'replaced', { reason });
      rows.unshift({
        ...rowOf(request, 'replaced', note, id),
        may_be_billing: error?.mayBeBilling ?? true,
      });
    }
    if (what.isImpossible !== true) asked.set(request.name, what);
  }

  async function settle(request: UnknownRental, evidence: Evidence): Promise<void> {
    const found = await evidence.find(request);
    if (found === undefined) {
      await askOnce(request, evidence);
      return;
    }
    await (await context.rentals()).resolve(request.uid, found.outcome, found.details);
    const limit = ceilingOf(request);
    const { instance, words } = found;
    const error =
      limit === undefined || instance === undefined
        ? undefined
        : await keepToLimit(instance, limit, context);
    if (error !== undefined) errors.push(error);
    const note = error === undefined ? words : `${words}; ${error.message}`;
    rows.unshift(rowOf(request, found.outcome, note, found.details.id));
  }

  return { rows, errors, settle };
}

function chosen(unknown: readonly UnknownRental[], names: readonly string[]): UnknownRental[] {
  for (const name of names) {
    if (!unknown.some((request) => request.name === name)) {
      const there = [...new Set(unknown.map((request) => request.name))].join(', ');
      throw new CliError(
        'notFound',
        `No request of the name "${name}" has an unknown outcome; ${there === '' ? 'none has' : `these have: ${there}`}.`,
        { resource: name, hint: 'gpucloud instances list shows what is known' },
      );
    }
  }
  return unknown.filter(({ name }) => names.length === 0 || names.includes(name));
}

function rowOf(
  { name, operation, asked_at, offer_id, candidates }: UnknownRental,
  outcome: Recovered['outcome'],
  note: string,
  id: string | undefined = undefined,
): Recovered {
  return {
    name,
    operation,
    asked_at,
    offer_id,
    outcome,
    id: id ?? null,
    may_be_billing: outcome === 'unknown' || id !== undefined,
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

function openOf(rows: readonly Recovered[]): CliError | undefined {
  const open = rows.filter(({ outcome }) => outcome === 'unknown');
  const [first] = open;
  if (first === undefined) {
    return undefined;
  }
  const list = open
    .map(
      ({ name, offer_id, asked_at }) =>
        `${name} (${offer_id === null ? '' : `offer ${offer_id}, `}asked for at ${asked_at})`,
    )
    .join(', ');
  return new CliError(
    'outcomeUnknown',
    `Unknown as before, and maybe billing: ${list}. Look for ${open.length === 1 ? 'it' : 'them'} in the service's web console.`,
    {
      hint: `if it is there: gpucloud instances track ID; if it is not: gpucloud instances untrack ${first.name}`,
      resource: first.name,
      mayBeBilling: true,
    },
  );
}
