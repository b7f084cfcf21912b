import type { Recovered } from '../commands/instances/recover-view.ts';
import { CliError } from '../errors.ts';
import type { Operation, UnknownRequest } from '../journal/index.ts';
import { forgetLine } from './forget-line.ts';
import { costs, WHAT } from './journaled-errors.ts';
import { LISTED } from './recover-listed.ts';

/** What stays open, and what a person can do about each kind; undefined where nothing does. */
export function stillUnknown(rows: readonly Recovered[]): CliError | undefined {
  const open = rows.filter(({ outcome }) => outcome === 'unknown');
  const [first] = open;
  if (first === undefined) return undefined;
  const mayBeBilling = open.some(({ operation }) => costs(operation));
  const machines = open.filter(({ operation }) => isMachine(operation));
  const where =
    machines.length === 0
      ? ''
      : ` Look for ${whichOf(machines, open)} in the service's web console.`;
  return new CliError(
    'outcomeUnknown',
    `Unknown as before${mayBeBilling ? ', and maybe billing' : ''}: ${open.map(wordsOf).join(', ')}.${where}`,
    { hint: hintOf(open), resource: first.name, mayBeBilling },
  );
}

/** Nobody can settle what has not been answered: the process that asked does it. */
export function stillWaiting({ name, operation }: UnknownRequest): CliError {
  const mayBeBilling = costs(operation);
  return new CliError(
    'outcomeUnknown',
    `The request for the ${WHAT[operation]} ${name} is under way, and its answer has not come yet${mayBeBilling ? ': it may be billing' : ''}.`,
    {
      hint: 'its process still waits for the answer: run the command again in a while',
      resource: name,
      mayBeBilling,
    },
  );
}

function whichOf(machines: readonly Recovered[], open: readonly Recovered[]): string {
  const isOne = machines.length === 1;
  if (machines.length === open.length) return isOne ? 'it' : 'them';
  return isOne ? 'the machine' : 'the machines';
}

function isMachine(operation: Operation): boolean {
  return WHAT[operation] === WHAT.create;
}

function wordsOf({ name, operation, offer_id, asked_at }: Recovered): string {
  const kind = isMachine(operation) ? '' : `${WHAT[operation]}, `;
  const offer = offer_id === null ? '' : `offer ${offer_id}, `;
  return `${name} (${kind}${offer}asked for at ${asked_at})`;
}

/** Drives and keys have no console to be looked for in: their lists are whole. */
function hintOf(open: readonly Recovered[]): string {
  const kinds = [...new Set(open.map(({ operation }) => WHAT[operation]))];
  return kinds
    .map((kind) => {
      const first = open.find((row) => WHAT[row.operation] === kind) as Recovered;
      const { operation } = first;
      const forget = forgetLine(first, open);
      const hint =
        operation === 'drive' || operation === 'api_key'
          ? `see what there is: ${LISTED[operation].list}; when you know: ${forget}`
          : `if it is there: gpucloud instances track ID; if it is not: ${forget}`;
      return kinds.length === 1 ? hint : `${kind}: ${hint}`;
    })
    .join('; ');
}
