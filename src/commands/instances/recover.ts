import { recoverLine } from '../../command-line/hints.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, doubt, failuresOf, throwAll } from '../../errors.ts';
import { readableJournal } from '../../instances/recover/pending.ts';
import { type Resolution, reconcile } from '../../instances/recover/reconcile.ts';
import { overLimit, warnOfMaxBurn } from '../../instances/rent/max-price.ts';
import type { OpenRequest } from '../../journal/index.ts';
import type { Recovered } from '../../json-results/instances.ts';
import { field, type View } from '../../output/output.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { isSameName, typedName } from '../../rules/names.ts';
import { mayBill } from '../../rules/statuses.ts';

const recoveredView: View<Recovered> = {
  columns: [
    field('name', 'NAME'),
    { id: 'outcome', header: 'OUTCOME', value: (row) => row.outcome.toUpperCase() },
    field('id', 'ID'),
    field('asked_at', 'ASKED', { kind: 'time' }),
    field('note', 'NOTE'),
    field('operation', 'OPERATION', { hidden: true }),
    field('offer_id', 'OFFER', { hidden: true }),
    field('uid', 'UID', { hidden: true }),
  ],
  id: (row) => row.id,
  empty: 'Nothing to recover.',
};

export const recover = verb({
  summary: 'Resolve requests with an unknown outcome',
  tool: { allow: 'all', idempotent: true },
  view: recoveredView,
  notes:
    'Determines the outcome of requests whose response was lost. Looks among tracked instances and ' +
    'instances attached to drives, and asks whether one with the name and time of the request ' +
    'is the requested instance. When not interactive, --yes accepts the instance if exactly one ' +
    'request and one instance match. An accepted instance gets the deadline of the request. ' +
    "Doesn't create or terminate instances.\n\n" +
    'If an outcome stays unknown, check the web console. If the instance exists, run ' +
    '"instances track ID". If not, run "instances untrack NAME" or "instances create NAME ' +
    '--yes".\n\n' +
    'Exits with 7 if an outcome stays unknown, or if another process is creating NAME.',
  completes: { name: 'nothing' },
  examples: [
    'gpucloud instances recover',
    'gpucloud instances recover trainer',
    'gpucloud instances recover ci-4711 --yes',
    'gpucloud instances recover --json',
  ],
  takes: (command) => command.argument('[name...]', 'request names (default: all)'),
  async run(context, names) {
    // Omits the warning about unknown outcomes, since the rows show them.
    await context.api({ quiet: true });
    const journal = await readableJournal(context);
    const open = chosen(await journal.requests(), names);
    const resolutions = await reconcile(open, journal, context);
    const unwritten = await failuresOf(context.out.list(resolutions.map(rowOf), recoveredView));
    const errors: CliError[] = [];
    for (const { request, instance } of resolutions) {
      if (instance === undefined || !mayBill(instance.status)) continue;
      const over = overLimit(instance, request.max_price);
      if (over !== undefined) errors.push(over);
      await warnOfMaxBurn(instance, context);
    }
    const [first, ...more] = resolutions.filter(({ instance }) => instance === undefined);
    if (first !== undefined) errors.push(stillUnknown([first, ...more], context));
    throwAll([...errors, ...unwritten]);
  },
});

function chosen(open: readonly OpenRequest[], names: readonly string[]): readonly OpenRequest[] {
  const unknown = open.filter(({ isInFlight }) => !isInFlight);
  for (const name of names) {
    const isNamed = (request: OpenRequest) => isSameName(request.name, name);
    if (unknown.some(isNamed)) continue;
    if (open.some(isNamed)) throw inFlight(name);
    const there = [...new Set(unknown.map((request) => request.name))].join(', ');
    throw new CliError(
      'notFound',
      `No request named "${name}" has an unknown outcome.${there === '' ? '' : ` Unresolved: ${there}.`}`,
      { resource: name, hint: `list known instances: ${gpucloud('instances', 'list')}` },
    );
  }
  const isWanted = ({ name }: OpenRequest) => names.some((typed) => isSameName(typed, name));
  return names.length === 0 ? unknown : unknown.filter(isWanted);
}

function rowOf({ request, instance, candidates }: Resolution): Recovered {
  const { uid, name, operation, asked_at, offer_id } = request;
  const nothing = 'found no instance with this name and time';
  const maybe = candidates.map(({ id, status }) => `${id} (${status})`).join(' or ');
  const unknown = maybe === '' ? nothing : `may be instance ${maybe}`;
  return {
    uid,
    name,
    operation,
    asked_at,
    offer_id,
    outcome: instance === undefined ? 'unknown' : 'rented',
    id: instance?.id ?? null,
    may_be_billing: instance === undefined || mayBill(instance.status),
    candidates: candidates.map(({ id, status, created_at }) => ({ id, status, created_at })),
    note: instance === undefined ? unknown : `found instance ${instance.id}, ${instance.status}`,
  };
}

function stillUnknown(
  open: readonly [Resolution, ...Resolution[]],
  { flags }: Pick<Context, 'flags'>,
): CliError {
  const { request, candidates } = open.find((one) => one.candidates.length > 0) ?? open[0];
  const [candidate, ...others] = candidates;
  const requested = open.map(({ request: { name, offer_id, asked_at } }) => {
    const offer = offer_id === null ? '' : `offer ${offer_id}, `;
    return `${name} (${offer}requested at ${asked_at})`;
  });
  const [what, they] = open.length === 1 ? ['instance', 'It'] : ['instances', 'They'];
  return doubt(
    `Outcome still unknown: ${requested.join(', ')}. Look for the ${what} in the web console. ${they} may be billing.`,
    {
      hint:
        candidate === undefined
          ? `if the instance exists: ${gpucloud('instances', 'track', 'ID')}; otherwise: ${untrackLine(request)}`
          : flags.yes === true || others.length > 0
            ? `to choose the instance in a terminal: ${recoverLine(request.name)}; if none is: ${untrackLine(request)}`
            : `if ${candidate.id} is the instance: ${recoverLine(request.name)} --yes; otherwise: ${untrackLine(request)}`,
      resource: request.name,
    },
  );
}

function untrackLine({ name, uid }: OpenRequest): string {
  return gpucloud('instances', 'untrack', typedName(name, uid));
}

/** Refuses a request that its own process is still sending and will resolve. */
function inFlight(name: string): CliError {
  return doubt(`Another gpucloud process is creating ${name}.`, {
    hint: `wait for that process, then list your instances: ${gpucloud('instances', 'list')}`,
    resource: name,
  });
}
