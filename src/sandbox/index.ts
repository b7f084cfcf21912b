import { resolve } from 'node:path';
import { CliError, ensureCliError } from '../errors.ts';
import { hasSsh, mayBill } from '../rules/statuses.ts';
import type { Clock } from '../system/clock.ts';
import { IMAGES } from './catalog/images.ts';
import { OFFERS } from './catalog/offers.ts';
import { pageOf } from './http/page.ts';
import type { RequestEntry } from './http/server.ts';
import { Refusal } from './refusal.ts';
import { freshState, type SeedOptions } from './seed.ts';
import { authenticate, builtInToken } from './service/api-keys.ts';
import { createInstance, instanceWith } from './service/instances.ts';
import { roubles, topUp } from './service/ledger.ts';
import { failRunning } from './service/lifecycle.ts';
import { settle } from './service/settle.ts';
import { sandboxStatus } from './service/status.ts';
import { connectTo, endStale, openFolder, type Wire, writeLoad } from './ssh/index.ts';
import type { Owners } from './ssh/place.ts';
import type { Fault, State } from './store/state.ts';
import { openStore } from './store/store.ts';
import { anchor, tick } from './time.ts';

export type { BaseImage } from './catalog/images.ts';
export type { PricedOffer } from './catalog/offers.ts';
export type { RequestEntry } from './http/server.ts';
export type { SandboxStatus } from './service/status.ts';
export type { Fault } from './store/state.ts';
export { accountIn } from './store/store.ts';

interface ListenOptions {
  readonly port: number;
  onRequest?(entry: RequestEntry): void;
  /** Also serves SSH of each instance on a port, and shows it as the instance's address. */
  readonly ssh?: Omit<Wire, 'stdin' | 'stdout'> & { onFault(message: string): void };
}

export type Sandbox = ReturnType<typeof openSandbox>;

interface SandboxSettings {
  readonly file: string;
  readonly clock: Clock;
  /** Users whose files are trusted; undefined checks none. */
  readonly owners?: Owners;
}

/**
 * Opens the embedded copy of the service. Creates the state file (0600) and its folder (0700) if
 * they don't exist.
 *
 * Every method first runs the events that are due on the virtual clock. It throws a CliError `storage` if
 * the state file can't be read, parsed or written. The commands validate their arguments.
 */
export function openSandbox({ file: path, clock, owners }: SandboxSettings) {
  // The homes of instances are beside the file, and commands change the folder.
  const file = resolve(path);
  const store = openStore(file);

  async function change<T>(work: (state: State, now: number) => T): Promise<T> {
    let statuses: ReadonlyMap<string, string> | undefined;
    try {
      return await store.change(
        () => freshState(clock.now()),
        (state) => {
          const now = tick(state, clock.now());
          settle(state, now);
          try {
            return work(state, now);
          } finally {
            statuses = statusesIn(state);
          }
        },
      );
    } finally {
      // The next change retries the deletion of remaining folders, and reset reports them.
      if (statuses !== undefined) await endStale(file, owners, statuses, readAgain);
    }
  }

  const readAgain = () => store.change(() => freshState(clock.now()), statusesIn);

  const read = (id: string) =>
    change(({ instances }) => instances.find((instance) => instance.id === id));

  /** Returns the web page behind a port of an instance; undefined if nothing responds. */
  const page = async (id: string, port: number) => pageOf(await read(id), port);

  const apiKey = () => change(builtInToken);

  return {
    file,

    /** The built-in account's key, for users who can read the state file. */
    apiKey,

    /** Makes the folder of the instances' files. Returns false if it exists. */
    openFolder: () => openFolder(file),

    /**
     * Serves one SSH connection to an instance. Throws a CliError `notFound` or `wrongState` if the
     * instance has no SSH now.
     */
    connect: async (id: string, wire: Wire) => {
      const instance = await change((state) => instanceWith(state, id)).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        throw new CliError('notFound', `${error.message}.`);
      });
      if (!hasSsh(instance.status)) {
        throw new CliError('wrongState', `${instance.name} is ${instance.status}.`);
      }
      await connectTo(file, owners, instance, wire);
    },

    /**
     * Serves the documented operations on 127.0.0.1; port 0 selects any free port. Calls
     * `onRequest` after each response. Throws a CliError `usage` if the port is in use.
     */
    listen: async ({ port, onRequest, ssh: wire }: ListenOptions) => {
      // Imports the server late, since the other methods don't need it.
      const [{ serveHttp }, { OPERATIONS }, { onLoopback }, { createSshPorts }] = await Promise.all(
        [
          import('./http/server.ts'),
          import('./http/operations.ts'),
          import('./http/loopback.ts'),
          import('./ssh/ports.ts'),
        ],
      );
      const ssh = wire === undefined ? undefined : createSshPorts(file, owners, { ...wire, read });
      const server = await serveHttp(
        {
          operations: OPERATIONS,
          now: () => clock.now(),
          onRequest,
          page,
          run: async (apiKey, answer) => {
            const plain = await change((state, now) => {
              authenticate(state, apiKey, now);
              return answer({ state, now });
            });
            return ssh === undefined ? plain : onLoopback(plain, { url: server.url, ssh });
          },
        },
        port,
      );
      async function close(): Promise<void> {
        await Promise.all([server.close(), ssh?.close()]);
      }
      return { ...server, close, apiKey: await apiKey() };
    },

    page,

    /** Moves the virtual clock ahead, 366 days at most; due events happen in order. */
    advance: (milliseconds: number) =>
      change((state, now) => {
        anchor(state, clock.now(), now + milliseconds);
        settle(state, now + milliseconds);
        return sandboxStatus(state, now + milliseconds);
      }),

    /** Sets the virtual milliseconds per real millisecond; 0 stops the clock. */
    setSpeed: (speed: number) =>
      change((state, now) => {
        anchor(state, clock.now(), now);
        state.clock.speed = speed;
      }),

    /** Makes a new account. Also replaces a state file that can't be parsed. */
    reset: async (options: SeedOptions = {}) => {
      const now = clock.now();
      // Creates a new key, since nobody can use the key of an unreadable file.
      const token = await apiKey().catch((error: unknown) => {
        ensureCliError(error);
        return undefined;
      });
      const state = freshState(now, { token, ...options });
      await store.replace(state);
      const [left] = await endStale(file, owners, new Map());
      if (left !== undefined) {
        throw new CliError('storage', `Reset the sandbox, but could not delete ${left}.`, {
          hint: 'delete this folder manually',
        });
      }
      return sandboxStatus(state, now);
    },

    status: () => change(sandboxStatus),

    /**
     * Returns the offers and images. `price_per_hour` is the sandbox's addition to the documented
     * offer.
     */
    catalog: async () => structuredClone({ offers: [...OFFERS], images: [...IMAGES] }),

    /**
     * Sets the load of an instance's cards in percent; undefined makes the load depend on the
     * instance's jobs. Throws a CliError `notFound` for an unknown name or ID.
     */
    setLoad: async (name: string, load: number | undefined) => {
      const id = await change(
        ({ instances }) =>
          instances.find((one) => mayBill(one.status) && [one.id, one.name].includes(name))?.id,
      );
      if (id === undefined) {
        throw new CliError(
          'notFound',
          `INSTANCE "${name}": the sandbox has no instance with that name or ID.`,
          {
            hint: 'gpucloud sandbox status',
          },
        );
      }
      await writeLoad(file, id, load);
    },

    /** Schedules a failure, see faults.ts. Two calls cause two failures. */
    inject: (fault: Fault) =>
      change((state, now) => {
        const running = state.instances.findLast((instance) => instance.status === 'ACTIVE');
        if (fault === 'fail-running' && running !== undefined) {
          failRunning(state, running, now);
        } else {
          state.faults.push(fault);
        }
      }),

    /** Cancels failures that have not happened yet. */
    clearFaults: () =>
      change((state) => {
        state.faults = [];
      }),

    /**
     * Rents the first offer in stock without a client request, and returns the ID. Throws a CliError
     * `wrongState` if the service would refuse it.
     */
    rogue: (name: string) =>
      change((state, now) => {
        const [offer] = OFFERS.filter(({ in_stock }) => in_stock);
        const wish = { offer_id: offer?.id ?? '', image_id: IMAGES[0]?.id ?? '' };
        return createInstance(state, { ...wish, instance_name: name }, now).id;
      }).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        throw new CliError('wrongState', `${error.message}. Nothing was rented.`);
      }),

    /** Tops up the account in roubles; the document has no operation for this. Pays debt first. */
    deposit: (amount: string) =>
      change((state, now) => {
        topUp(state, 'DEPOSIT', roubles(amount), 'Top-up', now);
        return sandboxStatus(state, now);
      }),
  };
}

function statusesIn({ instances }: State): ReadonlyMap<string, string> {
  return new Map(instances.map(({ id, status }) => [id, status]));
}
