import { existsSync, realpathSync, statSync } from 'node:fs';
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
 * (Windows).
 */
export function exposureOf(path: string, uid: number | undefined): Exposure | undefined {
  const found = uid === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (found.uid !== uid && found.uid !== 0) {
    const message = `${path} belongs to another user (uid ${found.uid})`;
    // Doesn't suggest chown to root: it would take the file away from its user.
    const remedy =
      uid === 0 ? ['sudo', '-u', `#${found.uid}`, 'gpucloud'] : ['chown', String(uid), path];
    return { message, remedy };
  }
  // In a sticky folder, such as /tmp, users can't replace each other's files.
  const isSticky = found.isDirectory() && (found.mode & 0o1000) !== 0;
  if ((found.mode & 0o022) === 0 || isSticky) return undefined;
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  return {
    message: `other users can write to ${path} (${mode})`,
    remedy: ['chmod', found.isDirectory() ? '700' : '600', path],
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
  return undefined;
}
