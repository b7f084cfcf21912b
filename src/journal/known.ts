import type { Instance } from '../api/index.ts';
import { CliError, ensureCliError, failuresOf } from '../errors.ts';
import { faultOf } from '../system/error-code.ts';
import { UNTIL_ABANDONED, withLock } from '../system/lock.ts';
import type { Deadline, Ends, Found, Known } from './contract.ts';
import {
  deadlinePath,
  endsOf,
  idleOf,
  idlePath,
  rescueOf,
  rescuePath,
  writeDeadline,
  writeIdle,
  writeRescue,
} from './deadlines.ts';
import { eventOf, eventPath, isUnsent, unsentIn, writeEvent } from './events.ts';
import {
  isOldNews,
  type KeptInstance,
  knownInstance,
  newInstance,
  seenInstance,
  withLast,
  writeInstance,
} from './instances.ts';
import type {
  EventRecord,
  IdleRecord,
  IdleRule,
  InstanceRecord,
  Origin,
  Rescue,
  RescueRecord,
} from './record.ts';
import type { Store } from './store.ts';

interface HeldDeadline extends Ends {
  /** Replaces the deadline, the idle rule and the rescue; `undefined` removes a value. */
  set(
    name: string,
    ends: { deadline?: string; if_idle?: IdleRule; rescue?: Rescue },
  ): Promise<void>;
}

/** A rescue's progress. Other processes don't copy while this process holds it. */
export interface HeldRescue {
  readonly found: RescueRecord | undefined;
  write(record: Pick<RescueRecord, 'due' | 'paths' | 'failing'>): Promise<void>;
}

/** An instance's recorded use. Other processes can't change it while this process holds it. */
interface HeldIdle {
  readonly found: IdleRecord | undefined;
  write(record: Pick<IdleRecord, 'begun' | 'since' | 'last'>): Promise<void>;
}

/** The known instances as last seen, and their deadlines. */
export function known(store: Store) {
  const { ownFolder, reading, writing, find, lookUp, now } = store;
  const { state } = store.settings;
  /**
   * Instances of the last read: a command that lists instances observes each immediately
   * afterwards.
   */
  const seen = new Map<string, KeptInstance>();
  let isUnwritable = false;

  /** Returns an instance's record; undefined if it is unreadable or a newer gpucloud wrote it. */
  function olderRecord(id: string): InstanceRecord | undefined {
    try {
      return find(id)?.record;
    } catch (error) {
      ensureCliError(error);
      return undefined;
    }
  }

  /** Stores an instance as `read` returns it from its earlier state, unless nothing is new. */
  async function keep(id: string, read: (before: InstanceRecord) => Instance): Promise<void> {
    const newsOf = (before: InstanceRecord) => seenInstance(read(before), before, now());
    const hasNoNews = ({ record }: KeptInstance) => isOldNews(record.last, newsOf(record));
    const just = seen.get(id);
    seen.delete(id);
    if (isUnwritable || (just !== undefined && hasNoNews(just))) return;
    const kept = await reading(() => find(id));
    // A new instance has no folder while the account is unknown. A known instance keeps its folder.
    const folder = ownFolder() ?? kept?.folder;
    if (folder === undefined || (kept !== undefined && hasNoNews(kept))) return;
    // An unreadable file shows that this computer rented or tracked the instance.
    const origin = lookUp(id) === 'unreadable' ? 'track' : 'read';
    const record = kept?.record ?? newInstance(id, origin, now());
    const last = newsOf(record);
    try {
      await writing(() => writeInstance(folder, withLast(record, last), kept));
    } catch (error) {
      isUnwritable = true;
      throw error;
    }
  }

  return {
    /** `archived` includes terminated and untracked instances. */
    async read({ archived = false } = {}): Promise<Known> {
      return reading(async () => {
        // Reads requests first: a process that resolves a request meanwhile has already written the
        // instance.
        const open = await store.openRequests();
        const kept = await store.instances(archived ? ['instances', 'archive'] : ['instances']);
        const deadlines = await store.deadlines();
        seen.clear();
        for (const one of kept) if (!seen.has(one.record.id)) seen.set(one.record.id, one);
        return {
          instances: [...seen.values()].map((one) =>
            knownInstance(one, deadlines.get(one.record.id) ?? { deadline: undefined }, state),
          ),
          unknown: open.filter(({ isInFlight }) => !isInFlight),
          inFlight: open.filter(({ isInFlight }) => isInFlight),
          unreadable: store.unreadable().filter((one) => !seen.has(one)),
        };
      });
    },

    /** Finds one instance, archived or not, and reads no other file. */
    instance: (id: string): Promise<Found> =>
      reading(() => {
        const kept = lookUp(id);
        if (kept === undefined) return { kind: 'none' };
        if (kept === 'unreadable') return { kind: 'unreadable' };
        seen.set(id, kept);
        return { kind: 'known', instance: knownInstance(kept, endsOf(kept.folder, id), state) };
      }),

    /** Returns when to terminate an instance, and reads no other file. */
    ends: (id: string): Promise<Ends> =>
      reading(() => {
        const folder = ownFolder() ?? find(id)?.folder;
        return folder === undefined ? { deadline: null } : endsOf(folder, id);
      }),

    /**
     * Stores an instance as a response shows it. A new instance counts as not rented on this
     * computer.
     */
    observe: (instance: Instance) => keep(instance.id, () => instance),

    /** Stores the status from a response that shows nothing else. */
    observeStatus: (id: string, status: string) =>
      keep(id, ({ last }) => ({ ...last, id, status })),

    /**
     * Adds an instance that was rented or tracked on this computer, either observed or by ID only.
     * Returns true if it was unknown to this computer.
     */
    add: (id: string, origin: Exclude<Origin, 'read'>, instance?: Instance) =>
      writing(async () => {
        seen.delete(id);
        const kept = find(id);
        const { untracked_at, ...before } = kept?.record ?? newInstance(id, origin, now());
        const record = isForeign(before) ? { ...before, origin } : before;
        const last = instance && seenInstance(instance, record, now());
        const news = last === undefined ? record : withLast(record, last);
        await writeInstance(store.main(), news, kept);
        return kept === undefined || untracked_at !== undefined;
      }),

    /** Archives an instance. */
    untrack: (id: string) =>
      writing(async () => {
        const kept = find(id);
        if (kept === undefined || kept.record.untracked_at !== undefined) return;
        await writeInstance(kept.folder, { ...kept.record, untracked_at: now() }, kept);
      }),

    /**
     * Returns the deadlines of instances that are neither terminated nor untracked. Ignores requests
     * and instances written by a newer gpucloud, since every deadline must still be enforced.
     */
    deadlines: (): Promise<readonly Deadline[]> =>
      reading(async () => {
        // Reads requests first, to apply deadlines that resolved requests still have.
        await failuresOf(store.openRequests());
        return [...(await store.deadlines())].map(([id, { name, ...ends }]) => {
          const record = olderRecord(id);
          return { id, name: record?.name ?? name, ...ends, status: record?.last?.status };
        });
      }),

    /**
     * Runs `work` with an instance's deadline, and prevents changes to it until `work` finishes.
     * Also runs `work` if no lock can be created, as on a full disk. No process can change a
     * deadline then, and the instance must still be terminated.
     */
    withDeadline<T>(id: string, work: (held: HeldDeadline) => Promise<T>): Promise<T> {
      const folder = store.main();
      const held = () =>
        work({
          ...endsOf(folder, id),
          set: (name, ends) => writing(() => writeDeadline(folder, id, name, ends)),
        });
      return withLock(deadlinePath(folder, id), held, {
        async otherwise(cause, isHeld) {
          if (!isHeld) return held();
          const message = 'Another gpucloud process is changing this deadline.';
          throw new CliError('storage', message, { hint: 'try again', retryable: true, cause });
        },
      });
    },

    /** Returns events whose notification has failed so far. */
    unsentEvents: (): Promise<EventRecord[]> =>
      writing(() => unsentIn(store.main(), Date.parse(now()))),

    /**
     * Sends an event, unless an earlier call or another process has. Stores the event first and
     * marks it afterwards, so that a failed or killed `send` is repeated. Also sends it if nothing
     * can be stored, as on a full disk; returns that fault.
     */
    async sendEvent(
      first: EventRecord,
      send: (event: EventRecord) => Promise<boolean>,
    ): Promise<unknown> {
      const path = eventPath(store.main(), first.key);
      const held = async (): Promise<unknown> => {
        const event = eventOf(path) ?? first;
        if (!isUnsent(event, Date.parse(now()))) return undefined;
        try {
          await writeEvent(path, event);
        } catch (fault) {
          await send(event);
          return fault;
        }
        if (await send(event)) await writeEvent(path, { ...event, sent_at: now() });
        return undefined;
      };
      return withLock(path, held, {
        patience: 0,
        async otherwise(fault, isHeld) {
          if (isHeld) return undefined;
          await send(first);
          return fault;
        },
      });
    },

    /**
     * Runs `work` with an instance's recorded use. If another process holds the lock, returns
     * undefined without running it. Throws CliError('storage') if no lock can be created.
     */
    withIdle<T>(
      id: string,
      rule: IdleRule,
      work: (held: HeldIdle) => Promise<T>,
    ): Promise<T | undefined> {
      const folder = store.main();
      const fail = (cause: unknown) => {
        const message = `Could not save its recorded use (${faultOf(cause)}).`;
        throw new CliError('storage', message, { cause });
      };
      const held = () =>
        work({
          found: idleOf(folder, id, rule),
          write: (record) =>
            writeIdle(folder, { version: 1, id, rule: rule.uid, ...record }).catch(fail),
        });
      return withLock<T | undefined>(idlePath(folder, id), held, {
        patience: 0,
        async otherwise(cause, isHeld) {
          return isHeld ? undefined : fail(cause);
        },
      });
    },

    /**
     * Runs `work` with a rescue's progress. Returns undefined without running it if another process
     * copies. Also runs `work` if no lock can be created, as on a full disk: the instance must still
     * be terminated.
     */
    withRescue<T>(
      id: string,
      rescue: Rescue,
      work: (held: HeldRescue) => Promise<T>,
    ): Promise<T | undefined> {
      const held = () =>
        work({
          found: rescueOf(state, id, rescue),
          write: (record) =>
            writing(() => writeRescue(state, { version: 1, id, rescue: rescue.uid, ...record })),
        });
      return withLock<T | undefined>(rescuePath(state, id), held, {
        patience: UNTIL_ABANDONED,
        yields: true,
        otherwise: async (_fault, isHeld) => (isHeld ? undefined : held()),
      });
    },
  };
}

/** Whether a command only read this instance, and this computer neither rented nor tracked it. */
function isForeign({ origin }: InstanceRecord): boolean {
  return origin === 'read';
}
