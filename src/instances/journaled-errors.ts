import { CliError } from '../errors.ts';
import type { Operation, RentalRequest } from '../journal/index.ts';

export const WHAT: Readonly<Record<Operation, string>> = {
  create: 'machine',
  reorder: 'machine',
  drive: 'drive',
  api_key: 'API key',
};

export function costs(operation: Operation): boolean {
  return operation !== 'api_key';
}

export function settleHint(operation: Operation): string {
  return `gpucloud instances recover settles whether the ${WHAT[operation]} was made; gpucloud instances list shows what is known.`;
}

export function notBelieved({ name, operation }: RentalRequest, id: string, why: string): CliError {
  const what = WHAT[operation];
  return new CliError(
    'outcomeUnknown',
    `The service answered the request for the ${what} ${name} with the id ${id}, which ${why}. Whether a new ${what} was made is not known.`,
    { hint: settleHint(operation), resource: name, mayBeBilling: costs(operation) },
  );
}

export function unknownAfter(error: unknown, name: string, operation: Operation): CliError {
  const what = WHAT[operation];
  return new CliError(
    'outcomeUnknown',
    `Something unexpected happened after the request for the ${what} ${name} was sent, and whether it was made is not known: ${wordsOf(error)}`,
    { hint: settleHint(operation), resource: name, mayBeBilling: costs(operation), cause: error },
  );
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

export function madeButNotKept(what: string, id: string, error: CliError): CliError {
  const end = endOf(what, id);
  return new CliError(
    'storage',
    `The ${what} ${id} was made, but this could not be written down: ${error.message}`,
    { hint: `note the id; ${end}`, resource: id, mayBeBilling: what !== 'API key', cause: error },
  );
}

function endOf(what: string, id: string): string {
  if (what === 'machine') {
    return `end the machine with "gpucloud instances terminate ${id}", or take it into the list with "gpucloud instances track ${id}"`;
  }
  return what === 'drive' ? `see it: gpucloud drives get ${id}` : 'see it: gpucloud api-keys list';
}

export function madeButUnclear(what: string, id: string, name: string, error: unknown): CliError {
  const bills = what !== 'API key';
  const { failure, httpStatus } =
    error instanceof CliError
      ? error
      : ({ failure: 'notUnderstood', httpStatus: undefined } as const);
  const why =
    error instanceof CliError
      ? httpStatus === undefined
        ? ''
        : ` (HTTP ${httpStatus})`
      : `: ${wordsOf(error)}`;
  return new CliError(
    failure === 'outcomeUnknown' ? 'notUnderstood' : failure,
    `The ${what} ${name} was made (${id})${bills ? ' and is billing' : ''}, but the rest of its answer could not be used${why}.`,
    {
      hint:
        what === 'machine'
          ? `see it with "gpucloud instances get ${id}", end it with "gpucloud instances terminate ${id}"`
          : endOf(what, id),
      resource: id,
      mayBeBilling: bills,
      cause: error,
      ...(httpStatus === undefined ? {} : { httpStatus }),
    },
  );
}
