import { join } from 'node:path';
import { openCatalog } from '../catalog/index.ts';
import { ensureCliError, usageError } from '../errors.ts';
import { isAny } from '../journal/files.ts';
import { type Deadline, type Journal, openJournal, type Scope } from '../journal/index.ts';
import { lazy } from '../lazy.ts';
import { gpucloud } from '../output/shell-line.ts';
import { spanText } from '../output/time.ts';
import { mayBill } from '../rules/statuses.ts';
import { openSandbox, type Sandbox } from '../sandbox/index.ts';
import type { Context, Host } from './contract.ts';
import type { SettingsRoom } from './settings.ts';

/** Local data: the journal, the catalog and the sandbox's state. */
export function createStores(
  host: Host,
  { folders, owners, resolved, settings, ensureSignedIn, isKeyAtHand, warnOfEnv }: SettingsRoom,
  { err }: Pick<Context, 'err'>,
) {
  const { clock } = host;
  const warn = (text: string) => err.warn('local_storage', text);

  async function sandbox(file?: string): Promise<Sandbox> {
    const path = file ?? join((await folders()).state, 'sandbox.json');
    return openSandbox({ file: path, clock, owners: owners() });
  }

  async function journalOf(scope: Scope): Promise<Journal> {
    return openJournal({
      state: (await folders()).state,
      scope,
      clock,
      pid: host.pid,
      isAlive: (pid) => host.isAlive(pid),
      warn,
    });
  }

  const ownJournal = lazy(async () => {
    await ensureSignedIn();
    const { sandbox: builtIn, baseUrl, apiKey, account } = await settings();
    return journalOf(
      builtIn
        ? { service: 'sandbox', account: (await (await sandbox()).status()).account }
        : { service: baseUrl?.value ?? '', account, apiKey: apiKey?.value },
    );
  });

  /** A journal also depends on the account, as a request does. */
  const journal = lazy(async () => {
    await warnOfEnv();
    return ownJournal();
  });

  /** Opens the journal without fetching a key, since that might prompt for a passphrase. */
  async function journalAtHand(): Promise<Journal> {
    if (await isKeyAtHand()) return ownJournal();
    const { settings: found, storedKey } = await resolved();
    return journalOf({ service: found.baseUrl?.value ?? '', account: storedKey?.account });
  }

  async function warnOfUnknown(): Promise<void> {
    let state: string;
    try {
      ({ state } = await folders());
      await ensureSignedIn();
    } catch (error) {
      ensureCliError(error);
      // Without a home folder or an account there is no journal. The command itself reports broken
      // settings.
      return;
    }
    try {
      if (!isAny('requests', state)) return;
      const open = await (await journalAtHand()).requests();
      const { length } = open.filter(({ isInFlight }) => !isInFlight);
      if (length > 0) err.warn('outcome_unknown', unknownWarning(length));
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      err.warn(
        'local_storage',
        `Could not read the journal, so billing instances may be missing: ${words}`,
      );
    }
  }

  async function warnOfOverdue(now: number): Promise<void> {
    try {
      if (!isAny('deadlines', (await folders()).state)) return;
      const warning = overdueWarning(await (await journalAtHand()).deadlines(), now);
      if (warning !== undefined) err.warn('deadline_passed', warning);
    } catch {
      // `warnOfUnknown` has already reported an unreadable journal.
    }
  }

  const catalog = lazy(async () => {
    const { sandbox: builtIn, baseUrl } = (await resolved()).settings;
    if (builtIn) await warnOfEnv();
    await ensureSignedIn();
    if (!builtIn && baseUrl === undefined) {
      throw usageError(
        '--base-url (or GPUCLOUD_BASE_URL) is missing: offers and images depend on the service',
      );
    }
    return openCatalog({
      file: join((await folders()).state, 'catalog.json'),
      service: baseUrl?.value ?? 'sandbox',
      clock,
      warn,
      ...(builtIn ? { builtIn: async () => (await sandbox()).catalog() } : {}),
    });
  });

  return {
    journal,
    journalOf,
    /** False if the journal can't be read. */
    async isKeyKnown() {
      try {
        return await (await journal()).isKeyKnown();
      } catch (error) {
        ensureCliError(error);
        return false;
      }
    },
    catalog,
    sandbox,
    /** Warns once per run about requests with an unknown outcome. */
    warnOfUnknown: lazy(warnOfUnknown),
    /** Warns about instances past their deadline, by the service's time. */
    warnOfOverdue,
  };
}

function unknownWarning(count: number): string {
  const requests = count === 1 ? '1 request has' : `${count} requests have`;
  return `${requests} an unknown outcome and may be billing. Recover: ${gpucloud('instances', 'recover')}`;
}

/** Names the instances that are past their deadline, or returns undefined if none is. */
function overdueWarning(deadlines: readonly Deadline[], now: number): string | undefined {
  const overdue = deadlines.filter((one) => timeOf(one) <= now && mayBill(one.status));
  const [first] = [...overdue].sort((a, b) => timeOf(a) - timeOf(b));
  if (first === undefined) return undefined;
  const late = spanText((now - timeOf(first)) / 1000);
  const reap = gpucloud('instances', 'reap');
  const others = overdue.length - 1;
  return others === 0
    ? `${first.name} is ${late} past its deadline, and may be billing. To terminate it: ${reap}`
    : `${first.name} and ${others} more are past their deadlines by up to ${late}, and may be billing. To terminate them: ${reap}`;
}

/** Returns NaN for a missing or unreadable deadline. */
function timeOf({ deadline }: Deadline): number {
  return Date.parse(deadline ?? '');
}
