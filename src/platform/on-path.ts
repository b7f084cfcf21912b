import { statSync } from 'node:fs';
import { join, win32 } from 'node:path';

/** The folder of Windows' own programs. */
const SYSTEM = 'C:\\Windows\\System32';

/**
 * Finds a program in a folder of PATH on Windows. Windows would search the current folder first, in
 * which anyone may have put a program. Returns a path unchanged. For a missing program, returns a
 * path to no file, so that starting it fails as on other systems.
 */
export function onPath(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: string,
): string {
  if (platform !== 'win32' || /[\\/:]/.test(file)) return file;
  // Windows ignores case in variable names.
  const [, path = ''] = Object.entries(env).find(([name]) => /^path$/i.test(name)) ?? [];
  const folders = path.split(';').map((folder) => folder.replaceAll('"', ''));
  const endings = win32.extname(file) === '' ? ['.exe', '.com'] : ['', '.exe'];
  const candidates = [...folders.filter(win32.isAbsolute), SYSTEM].flatMap((folder) =>
    endings.map((ending) => join(folder, `${file}${ending}`)),
  );
  return candidates.find(isFile) ?? join(SYSTEM, `${file}.exe`);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
