import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Place, realFolder } from './place.ts';

const CORES = 8;
const KIB = 64 * 1024 * 1024;

/** Hundredths of a second, as /proc counts the time of all cores. */
const TICKS = 100 * CORES;

/**
 * Writes the files of /proc that show how busy an instance is: in the instance's environment
 * GPUCLOUD_PROC names the folder. Applies the current load of the cards to the time since the last
 * write.
 */
export async function writeProc(place: Place, now: number): Promise<void> {
  const folder = place.proc;
  await realFolder(folder);
  await realFolder(join(folder, 'net'));
  const { mtimeMs: started } = await stat(place.mark);
  const uptime = Math.max(0, now - started) / 1000;
  const busy = Math.max(1, await loadOf(place));
  const total = Math.round(uptime * TICKS);
  const { used: before, total: totalBefore } = await ticksIn(join(folder, 'stat'));
  const isRestarted = total < totalBefore;
  const since = isRestarted ? total : total - totalBefore;
  const used = Math.min(total, (isRestarted ? 0 : before) + Math.round((since * busy) / 100));
  const bytes = Math.round(uptime * 100);
  const free = Math.round(KIB * (0.95 - busy / 200));
  const files = {
    stat: `cpu  ${used} 0 0 ${total - used} 0 0 0 0 0 0\nbtime ${Math.floor(started / 1000)}\n`,
    uptime: `${uptime.toFixed(2)} ${((total - used) / 100).toFixed(2)}\n`,
    loadavg: `${`${((busy * CORES) / 100).toFixed(2)} `.repeat(3)}1/100 1\n`,
    meminfo: `MemTotal:       ${KIB} kB\nMemFree:        ${free} kB\nMemAvailable:   ${free} kB\n`,
    'net/dev':
      'Inter-|   Receive                                                |  Transmit\n' +
      ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n' +
      `  eth0: ${bytes} 0 0 0 0 0 0 0 ${bytes} 0 0 0 0 0 0 0\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    // Another connection may write the file at the same time, and a command may read it.
    const fresh = `${path}.${randomUUID()}`;
    await writeFile(fresh, text);
    await rename(fresh, path);
  }
}

/** Returns the load of the cards in percent, as nvidia-smi shows it. */
async function loadOf({ load, home }: Place): Promise<number> {
  const set = await readFile(load, 'utf8').catch(() => '');
  if (set !== '') return Number(set);
  const job = join(home, 'gpucloud-run');
  return existsSync(join(job, 'started')) && !existsSync(join(job, 'exit')) ? 97 : 0;
}

/** Returns the last written values. */
async function ticksIn(path: string): Promise<{ used: number; total: number }> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const [, used = 0, idle = 0] = /cpu +(\d+) 0 0 (\d+) /.exec(text) ?? [];
  return { used: Number(used), total: Number(used) + Number(idle) };
}
