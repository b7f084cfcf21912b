import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { CliError } from '../errors.ts';
import { privateFolder } from '../files/private-folder.ts';
import { replaceFile } from '../files/replace.ts';
import { type Outcome, parseRecord, type RentalRecord, type Snapshot } from './record.ts';

export type { Outcome, Snapshot } from './record.ts';

/** Whose machines these are: another account's never show up. */
export interface Scope {
  /** The base URL, or `sandbox` for the built-in service. */
  readonly service: string;
  /** The account's user id, or something else that is the account's own. */
  readonly account: string;
}

/** A request that rents a machine, before it is sent. It holds no secret. */
export interface RentalRequest {
  readonly operation: 'create' | 'reorder';
  readonly name: string;
  readonly offer_id: string | null;
}

/** A request on disk, waiting for its outcome. */
export interface Intent {
  /** Notes what became of it. Throws CliError('storage') when that can't be kept. */
  settle(outcome: Outcome, id?: string): Promise<void>;
}

/** A machine that this computer knows, as it was last seen. */
export interface KnownMachine {
  readonly id: string;
  readonly name: string;
  /** undefined when the machine was never read. */
  readonly last: Snapshot | undefined;
  readonly asked_at: string;
}

/** A request whose outcome nobody knows: the machine may exist and be billing. */
export interface UnknownRental {
  readonly name: string;
  readonly asked_at: string;
  readonly offer_id: string | null;
  readonly operation: string;
}

export interface KnownRentals {
  readonly machines: readonly KnownMachine[];
  readonly unknown: readonly UnknownRental[];
}

/** What an answer of the service told of a machine. */
export interface Sighting {
  readonly id: string;
  readonly status: string;
  readonly name?: string | null | undefined;
  readonly price_per_hour?: string | null | undefined;
  readonly offer_name?: string | null | undefined;
  readonly created_at?: string | null | undefined;
}

/** The journal of machines that this computer asked for or was told of. */
export interface Rentals {
  /**
   * Puts the request on disk, fsynced, before it is sent.
   * Throws CliError('storage'): then nothing may be sent.
   */
  intend(request: RentalRequest): Promise<Intent>;
  read(): Promise<KnownRentals>;
  /**
   * Keeps what was seen of a machine. One that was not known is taken up, and the answer is true.
   * What fails here is told by CliError('storage').
   */
  see(sighting: Sighting, origin: 'track' | 'drive'): Promise<boolean>;
}

export interface RentalsSettings {
  /** The folder of all journals. */
  readonly folder: string;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly pid: number;
  /** Whether a process still runs; the request of one that does is under way, not lost. */
  isAlive(pid: number): boolean;
}

/** Tells accounts apart where only a key is known: a part of its hash, from which no key can be read. */
export function accountOfKey(apiKey: string): string {
  return `key-${createHash('sha256').update(apiKey).digest('hex').slice(0, 24)}`;
}

interface Entry {
  readonly file: string;
  readonly record: RentalRecord;
}

export function openRentals({ folder, scope, clock, pid, isAlive }: RentalsSettings): Rentals {
  const scopeHash = createHash('sha256').update(`${scope.service}\n${scope.account}`).digest('hex');
  const journal = join(folder, scopeHash.slice(0, 24));
  const now = () => new Date(clock.now()).toISOString();

  async function write(file: string, record: RentalRecord): Promise<void> {
    try {
      await privateFolder(journal);
      await replaceFile(file, `${JSON.stringify(record, null, 2)}\n`);
    } catch (error) {
      throw new CliError(
        'storage',
        `The list of rented machines could not be written: ${reason(error)}`,
        {
          hint: `check ${journal}`,
          cause: error,
        },
      );
    }
  }

  async function entries(): Promise<Entry[]> {
    const found: Entry[] = [];
    for (const name of await namesIn(journal)) {
      const file = join(journal, name);
      const record = parseRecord(await readFile(file, 'utf8'));
      if (record !== undefined) {
        found.push({ file, record });
      }
    }
    return found;
  }

  return {
    async intend(request) {
      const asked_at = now();
      const file = join(journal, `${asked_at.replaceAll(':', '')}-${randomUUID()}.json`);
      const record: RentalRecord = { version: 1, ...request, asked_at, pid };
      await write(file, record);
      return {
        settle: (kind, id) =>
          write(file, {
            ...record,
            outcome: { kind, at: now(), ...(id === undefined ? {} : { id }) },
          }),
      };
    },

    async read() {
      const all = await entries();
      const machines = new Map<string, KnownMachine>();
      const unknown: UnknownRental[] = [];
      for (const { record } of all) {
        const { name, asked_at, operation, outcome } = record;
        const id = outcome?.id;
        if (id !== undefined) {
          machines.set(id, {
            id,
            name: record.machine?.name ?? name,
            asked_at,
            last: record.machine,
          });
        } else if (outcome?.kind === 'unknown' || (outcome === undefined && !isAlive(record.pid))) {
          unknown.push({ name, asked_at, operation, offer_id: record.offer_id ?? null });
        }
      }
      return { machines: [...machines.values()], unknown };
    },

    async see(sighting, origin) {
      const known = (await entries()).find(({ record }) => record.outcome?.id === sighting.id);
      // The answer of a start or stop tells the status alone; the rest is remembered.
      const before = known?.record.machine;
      const machine: Snapshot = {
        id: sighting.id,
        name: sighting.name ?? before?.name ?? known?.record.name ?? sighting.id,
        status: sighting.status,
        price_per_hour: sighting.price_per_hour ?? before?.price_per_hour ?? null,
        offer_name: sighting.offer_name ?? before?.offer_name ?? null,
        created_at: sighting.created_at ?? before?.created_at ?? null,
        seen_at: now(),
      };
      if (known !== undefined) {
        if (!sameSight(before, machine)) {
          await write(known.file, { ...known.record, machine });
        }
        return false;
      }
      await write(join(journal, `seen-${sighting.id}.json`), {
        version: 1,
        operation: origin,
        name: machine.name,
        asked_at: machine.created_at ?? now(),
        pid,
        outcome: { kind: 'rented', id: sighting.id, at: now() },
        machine,
      });
      return true;
    },
  };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return [];
    }
    throw new CliError(
      'storage',
      `The list of rented machines could not be read: ${reason(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** Whether two sightings differ in nothing but their time, which alone is not worth a write. */
function sameSight(before: Snapshot | undefined, after: Snapshot): boolean {
  return (
    before !== undefined &&
    JSON.stringify({ ...before, seen_at: '' }) === JSON.stringify({ ...after, seen_at: '' })
  );
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
