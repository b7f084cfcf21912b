import type { Observed, User } from '../api/index.ts';
import { type CachedKind, cacheNames, type KnownName } from '../completion/names.ts';
import { otherAccount } from '../config/remedies.ts';
import { CliError, failuresOf } from '../errors.ts';
import { withoutKeys } from '../rules/secrets.ts';
import type { Context } from './contract.ts';
import type { SettingsRoom } from './settings.ts';

/**
 * Stores facts from responses: instances in the inventory, names of offers and images in the
 * catalog, and other names for Tab. The journal adds created instances to the inventory, since it
 * knows their requests.
 */
export function createObserver(
  { journal, catalog }: Pick<Context, 'journal' | 'catalog'>,
  { config, folders, resolved, settings }: SettingsRoom,
  { err }: Pick<Context, 'err'>,
): (seen: Observed) => Promise<void> {
  async function names(kind: CachedKind, change: NamesChange): Promise<void> {
    const [{ cache }, { settings }] = [await folders(), await resolved()];
    await cacheNames(kind, { cache, settings }, change);
  }

  /**
   * Throws CliError('authentication') if a profile's key belongs to another account. Otherwise
   * stores that it is the profile's; if that fails, the next command asks again.
   */
  async function ensureOwn({ id, email, name }: User): Promise<void> {
    const found = await settings();
    if (found.account === undefined) return;
    if (found.account === id) {
      await failuresOf(journal().then((own) => own.learnAccount(id)));
      return;
    }
    throw otherAccount(found, await (await config()).read(), { id, email, name });
  }

  return async function store(seen) {
    if (seen.title === 'GET /users/me') await ensureOwn(seen.result);
    try {
      switch (seen.title) {
        case 'GET /instances/{id}':
          await (await journal()).observe(seen.result);
          return await (await catalog()).learn(seen.result);
        case 'POST /instances':
        case 'POST /instances/{id}/reorder':
          return await (await catalog()).learn(seen.result);
        case 'POST /instances/{id}/start':
        // Not terminate: only the read after it shows whether the instance has ended.
        case 'POST /instances/{id}/stop': {
          const { id } = seen.input;
          const { status } = seen.result;
          await (await journal()).observeStatus(id, status);
          return;
        }
        case 'GET /storage/drives':
          return await names('drive', () => seen.result.map(nameOf));
        case 'GET /storage/drives/{id}':
        case 'POST /storage/drives':
        case 'PATCH /storage/drives/{id}':
          return await names('drive', withName(nameOf(seen.result)));
        case 'GET /ssh-keys':
          return await names('ssh-key', () => seen.result.map(nameOf));
        case 'POST /ssh-keys':
          return await names('ssh-key', withName(nameOf(seen.result)));
        case 'DELETE /ssh-keys/{id}':
          return await names('ssh-key', (all) => all.filter(({ id }) => id !== seen.input.id));
        case 'GET /templates':
          return await names('template', () => seen.result.map(nameOf));
        default:
      }
    } catch (error) {
      // Only warns: the journal has already stored a rented instance.
      if (!(error instanceof CliError)) throw error;
      err.warn('local_storage', error.message);
    }
  };
}

type NamesChange = Parameters<typeof cacheNames>[2];

/** Fields of a drive, an SSH key or a template that Tab shows. */
interface Seen {
  readonly id: string;
  readonly name?: string | null | undefined;
  readonly slug?: string | null | undefined;
  readonly status?: string | null | undefined;
  readonly is_default?: boolean | null | undefined;
}

function nameOf({ id, name, slug, status, is_default }: Seen): KnownName {
  // A key may bear an API key by mistake as its name. No file holds an API key.
  return {
    id,
    name: withoutKeys(slug ?? name ?? id),
    state: is_default === true ? 'default' : (status ?? ''),
  };
}

function withName(one: KnownName): NamesChange {
  return (all) => [one, ...all.filter(({ id }) => id !== one.id)];
}
