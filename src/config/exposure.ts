import { existsSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** How other users can change a file or folder, and how to prevent that. */
interface Exposure {
  readonly message: string;
  /** Command that removes the exposure. */
  readonly remedy: readonly string[];
}

/**
 * Returns how others can change a file or folder. As in ssh, this user or root must own it, and
 * neither group nor others may write to it. Returns undefined if they can't, or without a `uid`
 * (Windows). `owners` are the users that may own it.
 */
export function exposureOf(
  path: string,
  uid: number | undefined,
  owners: readonly number[] = [uid ?? 0, 0],
): Exposure | undefined {
  const found = uid === undefined ? undefined : statOf(path);
  if (found === undefined) return undefined;
  if (!owners.includes(found.uid)) return foreign(path, found.uid, uid);
  // In a sticky folder, such as /tmp, users can't replace each other's files.
  const isSticky = found.isDirectory() && (found.mode & 0o1000) !== 0;
  if ((found.mode & 0o022) === 0 || isSticky) return undefined;
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  const isOfRoot = found.uid === 0 && uid !== 0;
  return {
    message: `other users can write to ${path} (${mode})`,
    // With mode 0700, a folder of root would lock this user out.
    remedy: isOfRoot
      ? ['sudo', 'chown', String(uid), path]
      : ['chmod', found.isDirectory() ? '700' : '600', path],
  };
}

/** Returns undefined for a file that is missing or out of reach: its reader reports that. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function foreign(path: string, owner: number, uid: number | undefined): Exposure {
  return {
    message: `${path} belongs to another user (uid ${owner})`,
    // Doesn't suggest chown to root: it would take the file away from its user.
    remedy:
      uid === 0 ? ['sudo', '-u', `#${owner}`, 'gpucloud'] : ['sudo', 'chown', String(uid), path],
  };
}

/**
 * Returns how others can change or replace the config file, which could change a key, address or
 * command. The file may not exist yet.
 */
export function exposureOfConfig(config: string, uid: number | undefined): Exposure | undefined {
  const file = existsSync(config) ? realpathSync(config) : config;
  for (const path of [dirname(config), dirname(file), file]) {
    const exposure = exposureOf(path, uid);
    if (exposure !== undefined) return exposure;
  }
  return foreignParent(dirname(config), uid, [0]);
}

/**
 * Returns how others can change one of the folders that decide about instances: the state folder
 * and those in it. The state folder may not exist yet.
 */
export function exposureOfState(
  [state, ...inside]: readonly [string, ...string[]],
  uid: number | undefined,
  owners: readonly number[] | undefined,
): Exposure | undefined {
  for (const path of [state, ...inside]) {
    const exposure = exposureOf(path, uid, owners);
    if (exposure !== undefined) return exposure;
  }
  return foreignParent(state, uid, owners ?? []);
}

/**
 * Returns the exposure of a folder that root would create for another user: it will belong to the
 * owner of its parent.
 */
function foreignParent(
  path: string,
  uid: number | undefined,
  owners: readonly number[],
): Exposure | undefined {
  if (uid !== 0 || existsSync(path)) return undefined;
  const parent = dirname(path);
  const owner = statOf(parent)?.uid;
  if (owner === undefined) {
    return foreignParent(parent, uid, owners);
  }
  return owners.includes(owner) ? undefined : foreign(parent, owner, uid);
}

/**
 * Returns the users whose journal this user trusts: itself and root. Root also trusts the owner of
 * its home folder: with sudo, or in a container, that is another user. Returns undefined on Windows,
 * where files have no such owners.
 */
export function trustedOwners(
  uid: number | undefined,
  home: string | undefined,
): readonly number[] | undefined {
  if (uid === undefined) return undefined;
  const owner = uid === 0 && home ? statOf(home)?.uid : undefined;
  return [uid, 0, owner ?? uid];
}
