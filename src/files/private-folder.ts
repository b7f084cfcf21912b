import { chmod, mkdir } from 'node:fs/promises';

/** Makes a folder that only its owner may enter (0700), with its parents. */
export async function privateFolder(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 });
  // mkdir obeys the umask, and leaves a folder that was there as it is.
  if (made !== undefined) {
    await chmod(path, 0o700);
  }
}
