import type { Drive, SshKey, Template } from '../../api/index.ts';
import type { CatalogEntry, Kind } from '../../catalog/index.ts';
import type { Context } from '../../context.ts';
import { type CliError, ensureCliError, isOfOneReading } from '../../errors.ts';
import type { KnownInstance } from '../../journal/index.ts';
import { gpucloudLine } from '../../output/shell-line.ts';
import { nameKey } from '../../rules/names.ts';
import { isTerminated } from '../../rules/statuses.ts';
import { type PrivateHalf, privateHalves } from '../../ssh-keys/private-half.ts';

export const FIRST_WORDS =
  'amber brisk calm clear coral deep fair fleet grand keen light lunar noble polar quick quiet rapid sharp solid steady swift tall warm wide';
export const SECOND_WORDS =
  'alder bay birch brook cedar cliff crane delta dune falcon fern field heron ivy lake lark maple otter pine reef ridge river spruce wren';

/** The wizard's choices. */
export interface Lists {
  /** Names not to suggest by `nameKey`, each with the rule against it, if any. */
  readonly names: ReadonlyMap<string, string | undefined>;
  /** The account's SSH keys; undefined if unreadable. */
  readonly sshKeys: readonly SshKey[] | undefined;
  /** Their private keys on this computer. */
  readonly halves: readonly PrivateHalf[];
  readonly templates: readonly Template[];
  /** Mountable drives. */
  readonly drives: readonly Drive[];
  readonly catalog: Readonly<Record<Kind, readonly CatalogEntry[]>>;
  /** The balance as sent by the service; undefined if unreadable. */
  readonly balance: string | undefined;
}

/**
 * Reads all lists before the first prompt, so that a missing key or network fails before the user
 * types anything. If one list fails, only its question is skipped.
 */
export async function readLists(context: Context): Promise<Lists> {
  const api = await context.api();
  const progress = context.err.progress('Reading your keys, templates and drives');
  const faults: CliError[] = [];
  const orNot = async <T>(what: string, flag: string, read: Promise<T>): Promise<T | undefined> => {
    try {
      return await read;
    } catch (error) {
      ensureCliError(error);
      if (error.failure === 'authentication') throw error;
      context.signal.throwIfAborted();
      faults.push(error);
      context.err.warn(
        'incomplete',
        `Could not read the ${what}, but ${flag} still works: ${error.message}`,
      );
      return undefined;
    }
  };
  try {
    const [names, sshKeys, templates = [], drives = [], me, entries] = await Promise.all([
      takenNames(context),
      orNot('SSH keys', '--ssh-key', api.sshKeys.list()),
      orNot('templates', '--template', api.templates.list()),
      orNot('drives', '--drive', api.drives.list()),
      // Continues without the balance, since it is only shown.
      api.users.me().catch((error: unknown) => {
        if (!isOfOneReading(error)) throw error;
        return undefined;
      }),
      (await context.catalog()).known(),
    ]);
    const halves = await privateHalves(sshKeys ?? [], context);
    const [first] = faults;
    // Fails if every list fails, since renting would fail too.
    if (first !== undefined && faults.length === 3) throw first;
    const ofKind = (kind: Kind) => entries.filter((one) => one.kind === kind);
    return {
      names,
      sshKeys,
      halves,
      templates: templates
        .filter(({ is_active }) => is_active !== false)
        .sort((a, b) => (a.sort_order ?? 0) - (b.sort_order ?? 0)),
      // API document: DriveStatus.
      drives: drives.filter(
        ({ status, current_instance_id }) => status === 'AVAILABLE' && current_instance_id == null,
      ),
      catalog: { offer: ofKind('offer'), image: ofKind('image') },
      balance: me?.balance ?? undefined,
    };
  } finally {
    progress.done();
  }
}

/**
 * Returns the names of known instances. Allows names of terminated instances, since the document
 * does not say whether a termination frees a name.
 */
async function takenNames(context: Context): Promise<Lists['names']> {
  const { instances, unknown, inFlight } = await (await context.journal()).read({ archived: true });
  const isOver = ({ last }: KnownInstance) => isTerminated(last?.status);
  const named = (all: readonly { readonly name: string }[], rule?: string) =>
    all.map(({ name }) => [nameKey(name), rule] as const);
  return new Map([
    ...named(instances),
    ...named(
      [...unknown, ...inFlight],
      `a request with that name has an unknown outcome: ${gpucloudLine(['instances', 'recover'], context.flags.profile)}`,
    ),
    ...named(
      instances.filter((instance) => !isOver(instance)),
      'a known instance has that name',
    ),
  ]);
}
