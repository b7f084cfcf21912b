import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { Duplex, type Readable, type Writable } from 'node:stream';
import { hasSsh, mayBill } from '../../rules/statuses.ts';
import { makeFolders, privateFolder, replaceFile } from '../../system/files.ts';
import { startPiped } from '../../system/programs.ts';
import { findImage } from '../catalog/images.ts';
import { findOffer } from '../catalog/offers.ts';
import { pageOf } from '../http/page.ts';
import type { Instance } from '../store/state.ts';
import {
  ensureOwn,
  environmentOf,
  instancesFolder,
  marked,
  type Owners,
  placeOf,
  preparePlace,
  removeFolder,
} from './place.ts';
import { writeProc } from './proc.ts';
import { newHostKey, serveSsh } from './server.ts';

/** The process's side of a connection. */
export interface Wire {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly signal: AbortSignal;
}

/** Milliseconds between checks whether a connection's instance has stopped. */
const NOTICED = 500;

/**
 * Serves one SSH connection to an instance, until it closes, the instance stops, or the signal
 * aborts.
 */
export async function connectTo(
  file: string,
  owners: Owners,
  instance: Instance,
  wire: Wire,
): Promise<void> {
  await ensureOwn(file, owners);
  const place = placeOf(file, instance.id);
  const hostKey = await preparePlace(place, cardsOf(instance), newHostKey);
  await writeProc(place, Date.now());
  const stream = Duplex.from({ readable: wire.stdin, writable: wire.stdout });
  const end = () => void stream.destroy();
  let writing = Promise.resolve();
  const timer = setInterval(() => {
    if (!existsSync(place.mark)) return end();
    // Fails if the instance was just terminated. The next check then closes the connection.
    writing = writeProc(place, Date.now()).catch(() => undefined);
  }, NOTICED);
  wire.signal.addEventListener('abort', end, { once: true });
  try {
    await serveSsh(stream, {
      hostKey,
      publicKeys: instance.sshKeys.map(({ publicKey }) => publicKey),
      home: place.home,
      prompt: `${instance.name} (sandbox):\\w\\$ `,
      pageAt: (port) => pageOf(instance, port),
      env: environmentOf(instance.id, place, wire.env),
      platform: wire.platform,
    });
  } finally {
    clearInterval(timer);
    await writing;
    wire.signal.removeEventListener('abort', end);
  }
}

/** Formats a line per card for nvidia-smi: name, UUID, driver, memory in MiB. */
function cardsOf({ id, offerId, imageId }: Instance): string {
  const offer = findOffer(offerId);
  const driver = findImage(imageId)?.driver_version ?? '550.90.07';
  const cards = Array.from({ length: offer?.gpu_count ?? 1 }, (_, at) => {
    const { name = 'GPU', vram_gb: gigabytes = 24 } = offer?.gpu_model ?? {};
    const uuid = `GPU-${id.slice(0, -2)}${at.toString(16).padStart(2, '0')}`;
    return [name, uuid, driver, gigabytes * 1024].join('\t');
  });
  return `${cards.join('\n')}\n`;
}

/** Makes the folder of all instances. Returns false if it exists. */
export async function openFolder(file: string): Promise<boolean> {
  return makeFolders(instancesFolder(file), 0o700) !== undefined;
}

/**
 * Sets the load that nvidia-smi shows for an instance's cards, in percent. undefined removes the
 * load.
 */
export async function writeLoad(file: string, id: string, load: number | undefined): Promise<void> {
  const { folder, load: path } = placeOf(file, id);
  await privateFolder(folder);
  await replaceFile(path, load === undefined ? '' : String(load));
}

/** Matches the names of instance folders. */
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Kills processes of stopped instances, and deletes the folders of terminated instances. Runs after
 * each change, so the next change cleans up after a killed process. Returns the folders that can't
 * be deleted. `readAgain` reads the current statuses.
 */
export async function endStale(
  file: string,
  owners: Owners,
  statuses: ReadonlyMap<string, string>,
  readAgain = async () => statuses,
): Promise<string[]> {
  if (!existsSync(instancesFolder(file))) return [];
  await ensureOwn(file, owners);
  const left: string[] = [];
  for (const id of await readdir(instancesFolder(file))) {
    const status = statuses.get(id);
    if (!ID.test(id) || (status !== undefined && hasSsh(status))) continue;
    const place = placeOf(file, id);
    const isKept = status !== undefined && mayBill(status);
    if (isKept && !existsSync(place.mark)) continue;
    // Reads the status again, since another process may have started the instance and connected to it.
    if (hasSsh((await readAgain()).get(id) ?? 'TERMINATED')) continue;
    if (existsSync(place.mark)) {
      await rm(place.mark, { force: true });
      await killAll(id);
    }
    if (isKept) continue;
    await removeFolder(place.folder).catch(() => left.push(place.folder));
  }
  return left;
}

/** Maximum rounds of SIGKILL: a process may start another process while it is being killed. */
const ROUNDS = 20;

async function killAll(id: string): Promise<void> {
  let wasNone = false;
  for (let round = 0; round < ROUNDS; round += 1) {
    const numbers = await marked(id);
    // Looks twice: a process that is just being started has no environment for a moment.
    if (numbers.length === 0 && wasNone) return;
    wasNone = numbers.length === 0;
    if (wasNone) continue;
    const line = `kill -s KILL ${numbers.join(' ')}`;
    const killing = await startPiped({ file: '/bin/sh', args: ['-c', line], env: {} }, 'linux');
    await killing.ended;
  }
}
