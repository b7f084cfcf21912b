import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../files/lock.ts';
import { syncFolder } from '../files/replace.ts';
import { UNCLAIMED } from './accounts.ts';
import { exists, type FoundFile, filesIn, foldersIn, writeRecord } from './files.ts';
import { newInstance } from './instances.ts';
import { fileName, OLD_FOLDER, serviceFolder } from './names.ts';
import { type InstanceRecord, parseRecord, type RequestRecord } from './record.ts';
import { asidePath } from './requests.ts';

// Version 0.1.0 stored its journal in `rentals/OWNER/{open,machines,archive}`. Each file names its
// service, and its account unless that was unknown.

type Fields = Readonly<Record<string, unknown>>;

/**
 * Copies the journal of version 0.1.0 into the current one, then renames the old folder, which keeps
 * unreadable files. Returns warnings.
 *
 * Replaces no existing file, so it can run again after a crash. File system errors pass through; the
 * old folder then keeps its name, and the next command tries again.
 */
export async function carryOver(state: string): Promise<string[]> {
  const from = join(state, OLD_FOLDER);
  return await withLock(from, async () => {
    // Another process may have finished it.
    if (!exists(from)) return [];
    const unreadable: string[] = [];
    for (const place of ['machines', 'archive', 'open']) {
      for (const owner of foldersIn(from)) {
        for (const file of await filesIn(join(from, owner, place))) {
          const isCarried = await carry(file, place, join(state, 'journal'));
          if (!isCarried) unreadable.push(join(owner, place, `${file.name}.json`));
        }
      }
    }
    const to = `${from}.carried-over`;
    const kept = exists(to) ? `${to}-${Date.now()}` : to;
    renameSync(from, kept);
    syncFolder(state);
    return unreadable.map(
      (file) =>
        `A record of version 0.1.0 can't be read: ${join(kept, file)}. Check your instances in the web console.`,
    );
  });
}

/** Returns false for an unreadable file. */
async function carry({ text = '' }: FoundFile, place: string, root: string): Promise<boolean> {
  // A request has one line, and a second one with its outcome.
  const [first = '', second = ''] = place === 'open' ? text.split('\n') : [text];
  const { service, account, first_seen_at: _seen, ...fields } = fieldsOf(first);
  if (typeof service !== 'string') return false;
  const owner = typeof account === 'string' ? fileName(account) : UNCLAIMED;
  const folder = join(root, serviceFolder(service), owner);
  if (place === 'open') return carryRequest(fields, fieldsOf(second), folder);
  const record = parseRecord('instance', JSON.stringify(fields));
  if (record !== undefined) await carryInstance(record, folder, place);
  return record !== undefined;
}

function fieldsOf(json: string): Fields {
  try {
    return { ...JSON.parse(json) };
  } catch {
    return {};
  }
}

async function carryInstance(record: InstanceRecord, folder: string, place: string): Promise<void> {
  const name = `${fileName(record.id)}.json`;
  const [living, ended] = [join(folder, 'instances', name), join(folder, 'archive', name)];
  if (exists(living) || exists(ended)) return;
  await writeRecord(place === 'archive' ? ended : living, record);
}

async function carryRequest(fields: Fields, outcome: Fields, folder: string): Promise<boolean> {
  const { operation, process: _process, ...rest } = fields;
  // Lists show whether these were created.
  if (operation === 'drive' || operation === 'api_key') return true;
  const request = parseRecord(
    'request',
    JSON.stringify({ ...rest, operation, pid: null, timeout_ms: 0 }),
  );
  if (request === undefined) return false;
  const { kind = 'unknown', id, candidates } = outcome;
  const { uid, name, asked_at } = request;
  if (kind === 'unknown') await carryOpen(request, folder);
  if (kind === 'rented' && typeof id === 'string') {
    const record = { ...newInstance(id, request.operation, asked_at), name, request: uid };
    await carryInstance(record, folder, 'machines');
  }
  // Each may be the instance of a request whose outcome is unknown.
  for (const candidate of Array.isArray(candidates) ? candidates : []) {
    await carryInstance(newInstance(String(candidate), 'read', asked_at), folder, 'machines');
  }
  return true;
}

/** Writes the request under its name, or beside another request that holds the name. */
async function carryOpen(request: RequestRecord, folder: string): Promise<void> {
  const main = join(folder, 'requests', `${fileName(request.name)}.json`);
  const aside = asidePath(folder, request);
  const held = (await filesIn(join(folder, 'requests'))).find(({ path }) => path === main);
  const holder = parseRecord('request', held?.text);
  if (exists(aside) || holder?.uid === request.uid) return;
  await writeRecord(held === undefined ? main : aside, request);
}
