import { readdir, readlink } from 'node:fs/promises';

/** Returns the files below a folder that this process has open, on Linux. */
export async function openFiles(folder: string): Promise<string[]> {
  const fds = await readdir('/proc/self/fd').catch(() => []);
  const paths = fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(paths)).filter((path) => path.startsWith(folder));
}
