import { createGate } from './concurrency.ts';
import type { Context, GlobalFlags, Host } from './context/contract.ts';
import { createObserver } from './context/observe.ts';
import { createService } from './context/service.ts';
import { createServiceClock, type ServiceClock } from './context/service-clock.ts';
import { createSettings, type SettingsRoom } from './context/settings.ts';
import { createStores } from './context/stores.ts';
import { createTerminal } from './context/terminal.ts';

export type {
  Context,
  GlobalFlags,
  Host,
  Interrupts,
  ServiceAddress,
} from './context/contract.ts';
export type { Session } from './context/session.ts';
export { formatOf } from './context/terminal.ts';

/** Creates the Context of one command. Loads, reads and opens each part at its first use. */
export function createContext(
  host: Host,
  flags: GlobalFlags,
  version: string,
  parent?: Shared,
): Context {
  const { env, clock, interrupts } = host;
  const serviceClock = parent?.serviceClock ?? createServiceClock(clock);
  const withheld = parent?.withheld ?? new Set<string>();
  const terminal = createTerminal(host, flags, serviceClock.now, withheld);
  const { err, ownKeys } = terminal;
  const settings = parent?.settings ?? createSettings(host, flags, terminal);
  const stores = createStores(host, settings, terminal);
  const { journal, journalOf, isKeyKnown, catalog, sandbox, warnOfUnknown } = stores;
  const observe = createObserver(stores, settings, terminal);
  const service = createService({
    host,
    flags,
    version,
    settings,
    err,
    ownKeys,
    sandbox,
    serviceClock,
    isKeyKnown,
    observe,
  });

  // Only the run's own context warns, so that the warning appears once.
  let isQuiet = parent !== undefined;
  let exitCode = 0;
  return {
    ...terminal,
    env,
    host,
    clock,
    serviceClock,
    interrupts,
    creating: new Set(),
    priceChecks: { inTurn: createGate(1), pending: new Set() },
    signal: interrupts.first,
    flags,
    version,
    get stdin() {
      return host.stdin;
    },
    endWith(code) {
      exitCode = code;
    },
    get exitCode() {
      return exitCode;
    },
    settings: async ({ key = true } = {}) =>
      key ? settings.settings() : (await settings.resolved()).settings,
    config: settings.config,
    profiles: settings.profiles,
    keys: settings.keys,
    folders: settings.folders,
    async api({ quiet = false } = {}) {
      const api = await service.connected();
      isQuiet ||= quiet;
      if (!isQuiet) await warnOfUnknown();
      return api;
    },
    apiFor: service.apiFor,
    get isKeyRefused() {
      return service.isKeyRefused();
    },
    journal,
    journalOf,
    catalog,
    sandbox,
    async shielded(work, stop) {
      const shared = { settings, serviceClock, withheld };
      const own = createContext(shieldedHost(host, stop), flags, version, shared);
      try {
        return await work(own);
      } finally {
        await own.close();
      }
    },
    async close() {
      // Warns at the end of a command that read local data but sent no request.
      if (settings.used.areFolders && !isQuiet) await warnOfUnknown();
      if (serviceClock.isKnown() && !isQuiet) await stores.warnOfOverdue(serviceClock.now());
      await service.close();
    },
  };
}

/** State shared by contexts, so that a long run keeps its first profile and key. */
interface Shared {
  readonly settings: SettingsRoom;
  readonly serviceClock: ServiceClock;
  readonly withheld: Set<string>;
}

/**
 * Inherits from the host instead of copying it: reading its stream properties would open the
 * streams.
 */
function shieldedHost(host: Host, stop: AbortSignal = new AbortController().signal): Host {
  return Object.create(host, { interrupts: { value: { first: stop, second: stop } } });
}
