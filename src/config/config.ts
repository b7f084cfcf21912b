import { join } from 'node:path';
import type { ConfigFile } from './file.ts';
import { readConfig } from './read.ts';

/** The file of profiles. Nothing is remembered between calls: each reads the file afresh. */
export interface Config {
  /** The path of config.json, which need not exist. */
  readonly path: string;
  /**
   * A missing file is one without profiles.
   * Throws CliError('storage') that names the file when it can't be used.
   */
  read(): Promise<ConfigFile>;
  /**
   * The one way to write: `edit` gets the file as it is under the lock and returns the file as it
   * shall be. The answer is what is on the disk afterwards. What `edit` throws comes out as it is.
   * Throws CliError('storage') when the file can't be used or the change can't be saved; the file
   * is then as it was.
   */
  change(edit: (file: ConfigFile) => ConfigFile): Promise<ConfigFile>;
}

/** `folder` is the config folder, made (0700) at the first change. Touches no file yet. */
export function openConfig(folder: string): Config {
  const path = join(folder, 'config.json');
  return {
    path,
    read: async () => (await readConfig(path)).file,
    change: async (edit) => {
      const { changeConfig } = await import('./change.ts');
      return await changeConfig(path, edit);
    },
  };
}
