import type { Api, CallOptions, Instance } from '../api/index.ts';
import { eachBounded } from '../bounded.ts';
import { type CliError, isOfOneReading } from '../errors.ts';
import type { KnownInstance } from '../journal/index.ts';

/** A terminated or untracked instance, read again: all three undefined if it was not found. */
interface Archived {
  readonly known: KnownInstance;
  readonly instance?: Instance;
  readonly fault?: CliError;
}

const MOST = 100;
const AT_ONCE = 20;

/** Reads the newest of them. `left` is how many older ones it did not read. */
export async function readArchived(
  instances: readonly KnownInstance[],
  api: Api,
  options: CallOptions,
): Promise<{ read: readonly Archived[]; left: number }> {
  const seenAt = ({ last }: KnownInstance) => last?.seen_at ?? '';
  const newest = [...instances].sort((a, b) => seenAt(b).localeCompare(seenAt(a)));
  const read = await eachBounded(
    newest.slice(0, MOST),
    AT_ONCE,
    async (known): Promise<Archived> => {
      try {
        return { known, instance: await api.instances.get(known.id, options) };
      } catch (error) {
        if (!isOfOneReading(error)) throw error;
        return error.failure === 'notFound' ? { known } : { known, fault: error };
      }
    },
  );
  return { read, left: newest.length - read.length };
}
