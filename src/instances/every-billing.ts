import type { Context } from '../context.ts';
import { type CliError, doubt } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';
import { GONE, mayBill } from '../rules/statuses.ts';
import { drivesUnread, type Listed, readKnownInstances } from './known-instances.ts';

export interface EveryBilling {
  readonly ids: readonly string[];
  /** Why instances that may bill can be missing from `ids`. */
  readonly left: readonly CliError[];
}

/** Returns every instance of `instances list` that may bill. Leaves out those that are GONE. */
export async function everyBilling(context: Context): Promise<EveryBilling> {
  const api = await context.api();
  const { rows, driveFault } = await readKnownInstances(
    { all: false, drives: api.drives.list(), now: context.clock.now() },
    api,
    context,
  );
  const isOpen = ({ id }: Listed) => id === null;
  return {
    ids: rows.flatMap(({ id, status }) =>
      id !== null && status !== GONE && mayBill(status) ? [id] : [],
    ),
    left: [
      ...rows.filter(isOpen).map(({ name }) => withoutId(name)),
      ...(driveFault === undefined ? [] : [driveFault.with(drivesUnread(driveFault))]),
    ],
  };
}

function withoutId(name: string): CliError {
  return doubt(`The ID of "${name}" is unknown, so it was not terminated. It may be billing.`, {
    hint: `recover the request: ${gpucloud('instances', 'recover')}`,
    resource: name,
  });
}
