import type { Api, CreateInstanceBody, Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { View } from '../../output/output.ts';
import { instant, relative } from '../../output/time.ts';
import type { UnknownRental } from '../../rentals/index.ts';
import { learnAccount, tellMissing } from '../kit/account.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { verb } from '../kit/verb.ts';
import { type Finding, gatherEvidence } from './evidence.ts';
import { rent } from './rent.ts';

export function registerRecover(group: AnyCommand, frame: Frame): void {
  verb(group, {
    name: 'recover',
    summary: 'Settle requests whose answer was lost',
    view: recoveredView,
    notes:
      'A request settles itself where a drive names its machine, or a reading shows one of its name that\n' +
      'lives and is no older. Where nothing is certain, a create can be made again under the same name,\n' +
      'which is unique at the service: that rents the machine now, or is refused since it exists. It is\n' +
      'asked for in a terminal, and done with --retry. A reorder is never made again: its new name need\n' +
      'not be unique. Exit code 7 while anything stays unknown.',
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
  const rows: Recovered[] = [];
  if (open.length > 0) {
    const evidence = await gatherEvidence(open, api, context);
    // The newest first: of two requests of one name, a machine comes rather of the later one.
    for (const request of [...open].reverse()) {
      const found = await evidence.find(request);
      if (found === undefined) {
        rows.unshift(
          evidence.isWhole()
            ? await askAgain(request, retry, context)
            : rowOf(request, 'unknown', 'not all could be read that may tell of it: try again'),
        );
      } else {
        await rentals.resolve(request.uid, found.outcome, found.details);
        rows.unshift(rowOf(request, found.outcome, found.words, found.details.id));
      }
    }
  }
  const isShort = await tellMissing(fault, context);
  await context.out.list(rows, isShort ? { ...recoveredView, empty: OF_THIS_KEY } : recoveredView);
  tellOpen(rows);
  if (isShort) throw notAllSettled();
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

async function askAgain(
  request: UnknownRental,
  retry: boolean,
  context: Context,
): Promise<Recovered> {
  const { name } = request;
  const send = repetitionOf(request);
  if (typeof send === 'string') {
    return rowOf(request, 'unknown', send);
  }
  if (!(await isAllowed(request, retry, context))) {
    return rowOf(request, 'unknown', 'nothing is certain; --retry makes the same request again');
  }
  let again: Instance;
  try {
    again = await rent(
      {
        operation: request.operation,
        name,
        offer_id: request.offer_id,
        retry_of: request.uid,
        ...(request.body === undefined ? {} : { body: request.body }),
      },
      context,
      send,
    );
  } catch (error) {
    if (!(error instanceof CliError) || error.failure === 'storage') throw error;
    return rowOf(request, 'unknown', refusedWords(error));
  }
  await (await context.rentals()).resolve(request.uid, 'replaced', {
    reason: `the name was accepted again, for ${again.id}`,
  });
  return rowOf(
    request,
    'replaced',
    `rented now as ${again.id}; names are unique, so no machine of the first request bears this name: it was never made, or has ended`,
    again.id,
  );
}

/** The same request as before, or why it can't be made from here. */
function repetitionOf({
  operation,
  body,
  masked,
  name,
  isSpoilt,
}: UnknownRental): ((api: Api, options: object) => Promise<Instance>) | string {
  if (isSpoilt === true) {
    return 'the file of the request is torn, and its name lost: look for a machine of that time at the web console';
  }
  if (operation === 'reorder') {
    return `nothing is certain, and the published API does not say that new names are unique, so that asking again could rent a second machine: look for ${name} at the web console`;
  }
  if (operation === 'create' && masked) {
    return `nothing is certain; its secrets are not kept, so ask again by hand: gpucloud instances create ${name} with the same flags`;
  }
  if (operation !== 'create' || body === undefined) {
    return 'nothing is certain, and asking again would settle nothing: look at the web console';
  }
  // The very body that its schema let through, and it is checked again on the way out.
  return (api, options) => api.instances.create(body as unknown as CreateInstanceBody, options);
}

async function isAllowed(
  { name, asked_at }: UnknownRental,
  retry: boolean,
  context: Context,
): Promise<boolean> {
  if (retry || context.flags.yes === true) {
    return true;
  }
  const prompts = await context.prompts();
  const then = instant(asked_at);
  const when = then === undefined ? '' : ` (asked ${relative(then, context.clock.now())})`;
  return (
    (await prompts?.confirm(
      `${name}${when}: make the same request again? Where the first was not carried out, this rents the machine now.`,
      false,
    )) ?? false
  );
}

/** The service's words are shown, but only its status is judged: a 4xx has several reasons. */
function refusedWords(error: CliError): string {
  const { httpStatus = 0, message } = error;
  const isRefusal = httpStatus >= 400 && httpStatus < 500 && error.failure !== 'authentication';
  return isRefusal
    ? `asking again was refused, as it is when the machine exists: ${message}`
    : `asking again did not settle it: ${message}`;
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

function tellOpen(rows: readonly Recovered[]): void {
  const open = rows.filter(({ outcome }) => outcome === 'unknown');
  const [first] = open;
  if (first === undefined) {
    return;
  }
  const list = open
    .map(
      ({ name, offer_id, asked_at }) =>
        `${name} (${offer_id === null ? '' : `offer ${offer_id}, `}asked for at ${asked_at})`,
    )
    .join(', ');
  throw new CliError(
    'outcomeUnknown',
    `Unknown as before, and maybe billing: ${list}. Look for ${open.length === 1 ? 'it' : 'them'} in the service's web console.`,
    {
      hint: `if it is there: gpucloud instances track ID; if it is not: gpucloud instances untrack ${first.name}`,
      resource: first.name,
      mayBeBilling: true,
    },
  );
}
