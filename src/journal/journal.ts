import { join } from 'node:path';
import { isoTime } from '../clock.ts';
import { CliError } from '../errors.ts';
import type { JournalSettings, OutcomeDetails } from './contract.ts';
import { asOfNow } from './in-flight.ts';
import { findMachineRecord, type KeptMachine, type MachinePlace, machinesIn } from './machines.ts';
import type { Outcome, OutcomeRecord } from './record.ts';
import { type OpenRequest, openRequests } from './requests.ts';
import { type OwnFolders, ownFolders } from './scope.ts';

/** The files of one account's journal, as its parts read and write them. */
export interface Store {
  readonly settings: JournalSettings;
  now(): string;
  own(): Promise<OwnFolders>;
  /** The folders of the owner; new things go to the first. */
  owners(): Promise<string[]>;
  mainOwner(): Promise<string>;
  /** Looks anew whose folders these are. */
  forgetOwners(): void;
  /** The requests of uncertain outcome, the oldest first. */
  requests(): Promise<OpenRequest[]>;
  machines(places: readonly MachinePlace[]): Promise<KeptMachine[]>;
  find(id: string): Promise<KeptMachine | undefined>;
  /** Words, and CliError('storage'), for what fails on the way from the disk. */
  reading<T>(work: () => Promise<T>): Promise<T>;
  /** The same for what fails on the way to it. */
  writing<T>(work: () => Promise<T>): Promise<T>;
  outcome(kind: Outcome, details: OutcomeDetails): OutcomeRecord;
}

export function openStore(settings: JournalSettings): Store {
  const { folder, scope, clock } = settings;
  const now = () => isoTime(clock.now());
  const spoilt = new Set<string>();
  let found: Promise<OwnFolders> | undefined;

  function own(): Promise<OwnFolders> {
    found ??= reading(() => ownFolders(folder, scope));
    return found;
  }
  async function owners(): Promise<string[]> {
    return (await own()).all.map((name) => join(folder, name));
  }
  async function storing<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof CliError
        ? error
        : new CliError('storage', `${what}: ${reason(error)}`, {
            hint: `check the folder ${folder}`,
            cause: error,
          });
    }
  }
  const reading = <T>(work: () => Promise<T>) =>
    storing('The list of rented machines could not be read', work);

  /** Each file that spoils only itself is told once, all of a reading in one line. */
  async function tellingSpoilt<T>(work: (spoil: (path: string) => void) => Promise<T>): Promise<T> {
    const fresh: string[] = [];
    const result = await work((path) => {
      if (!spoilt.has(path)) fresh.push(path);
      spoilt.add(path);
    });
    const [first, ...others] = fresh;
    if (first !== undefined) {
      const more = others.length === 0 ? '' : ` and ${others.length} more`;
      settings.warn?.(
        `A file of the journal of rented machines can't be understood and was left as it is: ${first}${more}. What only it knew is missing here, perhaps a machine: compare with the web console.`,
      );
    }
    return result;
  }

  return {
    settings,
    now,
    own,
    owners,
    reading,
    writing: (work) => storing('The list of rented machines could not be written', work),
    mainOwner: async () => join(folder, (await own()).main),
    forgetOwners() {
      found = undefined;
    },
    requests: () =>
      reading(() =>
        tellingSpoilt(async (spoil) => {
          const found: OpenRequest[] = [];
          for (const owner of await owners()) {
            found.push(...asOfNow(await openRequests(owner, spoil), settings));
          }
          // The folder that one lies in says nothing of its time; its name does.
          return found.sort((a, b) => (a.intent.uid < b.intent.uid ? -1 : 1));
        }),
      ),
    machines: (places) =>
      reading(() =>
        tellingSpoilt(async (spoil) => {
          const found: KeptMachine[] = [];
          for (const owner of await owners()) {
            for (const place of places) found.push(...(await machinesIn(owner, place, spoil)));
          }
          return found;
        }),
      ),
    async find(id) {
      // Nearly always it lies with the account; see `all` of the own folders.
      const kept = await findMachineRecord([join(folder, (await own()).main)], id);
      const isFound = kept !== undefined && kept.isSpoilt !== true;
      return isFound ? kept : findMachineRecord(await owners(), id);
    },
    outcome(kind, { id, candidates = [], reason: why }) {
      return {
        kind,
        at: now(),
        ...(id === undefined ? {} : { id }),
        ...(candidates.length === 0 ? {} : { candidates: [...candidates] }),
        ...(why === undefined ? {} : { reason: why.slice(0, 160) }),
      };
    },
  };
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
