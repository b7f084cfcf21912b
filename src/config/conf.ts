import { basename, dirname } from 'node:path';
import Conf from 'conf';

/**
 * Writes a new JSON file (0600) with conf, and says which text was handed over.
 *
 * conf brings its own temporary file, fsync, retries on a busy system and file mode, but it can't
 * be trusted with the real name: when a disk fills up it returns normally and leaves half the JSON,
 * and under some environments it writes in place. So it gets a name of its own to write under, and
 * the caller compares what arrived before that file takes the real name.
 *
 * The store is set whole: conf's `set(key, …)` drops a key named `__proto__`, and reads dots in a
 * key as a path.
 */
export function writeWithConf(path: string, content: Readonly<Record<string, unknown>>): string {
  let text = '';
  const conf = new Conf<Record<string, unknown>>({
    // Both are given so that conf asks neither the environment nor the working folder.
    cwd: dirname(path),
    configName: basename(path),
    fileExtension: '',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
    clearInvalidConfig: false,
    serialize: (value) => {
      text = `${JSON.stringify(value, undefined, 2)}\n`;
      return text;
    },
  });
  conf.store = content;
  return text;
}
