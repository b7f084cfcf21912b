import type { CallOptions } from '../../api/index.ts';
import { type MarkedKey, marked } from '../../context/key-in-use.ts';
import type { Context } from '../../context.ts';
import { type CliError, isOfOneReading } from '../../errors.ts';
import { readableJournal } from '../../instances/pending.ts';
import { openPrices } from '../../instances/request/guards.ts';
import type { Journal, Known, KnownInstance } from '../../journal/index.ts';
import { isTerminated } from '../../rules/statuses.ts';
import { type AccountReading, readAccount } from '../account.ts';
import { readArchived } from '../archived.ts';
import { type Exact, readExact } from './exact.ts';
import type { RequestPrices } from './instances.ts';

/** The data that the checks examine. */
export interface AuditReading {
  readonly account: AccountReading;
  /** The whole journal. The read has added instances that drives name, as `read`. */
  readonly known: Known;
  readonly requestPrices: RequestPrices;
  /** The newest instances that were seen TERMINATED here, read again. */
  readonly ended: Awaited<ReturnType<typeof readArchived>>;
  /** Or the reason why they could not be read. */
  readonly keys: readonly MarkedKey[] | CliError;
  /** undefined unless requested. */
  readonly exact: Exact | undefined;
}

export async function readAudit(
  { exact }: { exact: boolean },
  context: Context,
  options: CallOptions = {},
): Promise<AuditReading> {
  const api = await context.api({ quiet: true });
  const [account, keys] = await Promise.all([
    readAccount(context, { quiet: true, options }),
    readKeys(context, options),
  ]);
  // After the drives: another process may have rented the instances that they name.
  const journal = await readableJournal(context);
  const known = await journal.read({ archived: true });
  return {
    account,
    known,
    requestPrices: await pricesOf(known, journal, context),
    ended: await readArchived(known.instances.filter(endedHere), api, options),
    keys,
    exact: exact ? await readExact(account, api, context, options) : undefined,
  };
}

function endedHere({ archived, untracked, last }: KnownInstance): boolean {
  return archived && !untracked && isTerminated(last?.status);
}

async function readKeys(
  context: Context,
  options: CallOptions,
): Promise<readonly MarkedKey[] | CliError> {
  try {
    return await marked(await (await context.api()).apiKeys.list(options), context);
  } catch (error) {
    if (!isOfOneReading(error)) throw error;
    return error;
  }
}

async function pricesOf({ unknown }: Known, journal: Journal, context: Context) {
  if (unknown.length === 0) return new Map<string, string>();
  const priceOf = await openPrices(journal, context);
  return new Map(
    await Promise.all(unknown.map(async (one) => [one.uid, await priceOf(one)] as const)),
  );
}
