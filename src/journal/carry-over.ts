import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../files/lock.ts';
import { privateFolder } from '../files/private-folder.ts';
import { replaceFile, syncFolder } from '../files/replace.ts';
import { UNCLAIMED } from './accounts.ts';
import { exists, type FoundFile, filesIn, namesIn, writeRecord } from './files.ts';
import { newInstance } from './instances.ts';
import { fileName, OLD_FOLDER, serviceFolder } from './names.ts';
import { type InstanceRecord, parseRecord, type RequestRecord } from './record.ts';
import { asidePath } from './requests.ts';

// Version 0.1.0 stored its journal in `rentals`: OWNER/{open,machines,archive} and `accounts`. OWNER
// is a hash of service and account, or of service and key if the account was unknown. A file
// ACCOUNT.KEY.json in `accounts` links a key to its account.

type Fields = Readonly<Record<string, unknown>>;

interface OldFile extends FoundFile {
  /** A request's first line, or the whole of another file; undefined if the file is torn. */
  readonly fields: Fields | undefined;
  /** A request's second line: its outcome. */
  readonly outcome: Fields | undefined;
}

interface OldOwner {
  readonly name: string;
  readonly open: readonly OldFile[];
  readonly machines: readonly OldFile[];
  readonly archive: readonly OldFile[];
}

/**
 * Copies the journal of version 0.1.0 into the current one, then renames the old folder. Returns
 * warnings.
 *
 * Replaces no existing file, so it can run again after a crash. File system errors pass through; the
 * old folder then keeps its name, and the next command tries again.
 */
export async function carryOver(state: string): Promise<string[]> {
  const from = join(state, OLD_FOLDER);
  const root = join(state, 'journal');
  return await withLock(from, async () => {
    // Another process may have finished it.
    if (!exists(from)) return [];
    const owners = await ownersIn(from);
    const foldersFor = await foldersOf(from, root, owners);
    const warnings: string[] = [];
    for (const owner of owners) {
      const folders = foldersFor(owner);
      if (folders.length === 0) {
        warnings.push(
          `Part of the journal of version 0.1.0 names no service and was not migrated: ${owner.name} in ${from}.carried-over`,
        );
      }
      for (const folder of folders) {
        for (const file of owner.machines) await carryInstance(file, folder, 'instances');
        for (const file of owner.archive) await carryInstance(file, folder, 'archive');
        for (const file of owner.open) warnings.push(...(await carryRequest(file, folder)));
      }
    }
    const to = `${from}.carried-over`;
    renameSync(from, exists(to) ? `${to}-${Date.now()}` : to);
    syncFolder(state);
    return warnings;
  });
}

async function ownersIn(from: string): Promise<OldOwner[]> {
  const owners: OldOwner[] = [];
  for (const name of namesIn(from).filter((one) => /^[0-9a-f]{24}$/.test(one))) {
    const read = async (place: string) => (await filesIn(join(from, name, place))).map(oldFile);
    owners.push({
      name,
      open: await read('open'),
      machines: await read('machines'),
      archive: await read('archive'),
    });
  }
  return owners;
}

function oldFile(file: FoundFile): OldFile {
  const text = file.text ?? '';
  const [first = '', second = ''] = text.startsWith('{"') ? text.split('\n') : [text];
  return { ...file, fields: fieldsOf(first), outcome: fieldsOf(second) };
}

function fieldsOf(json: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** Finds the account of each old folder, and stores the account of each key. */
async function foldersOf(
  from: string,
  root: string,
  owners: readonly OldOwner[],
): Promise<(owner: OldOwner) => string[]> {
  const byHash = new Map<string, string>();
  const note = ({ service, account }: Fields) => {
    if (typeof service !== 'string' || typeof account !== 'string') return;
    const hash = createHash('sha256').update(`${service}\n${account}`).digest('hex').slice(0, 24);
    byHash.set(hash, join(root, serviceFolder(service), fileName(account)));
  };
  const records = (owner: OldOwner): Fields[] =>
    [...owner.open, ...owner.machines, ...owner.archive].flatMap(({ fields }) =>
      fields === undefined ? [] : [fields],
    );
  for (const owner of owners) for (const fields of records(owner)) note(fields);

  const links = (await filesIn(join(from, 'accounts')))
    .map(oldFile)
    .sort((a, b) => (String(a.fields?.learned_at) < String(b.fields?.learned_at) ? -1 : 1));
  const ofKey = new Map<string, string>();
  for (const { name, fields = {} } of links) {
    note(fields);
    const { service, account, key } = fields;
    const [ofAccount = '', keyFolder = ''] = name.split('.');
    // Requests sent before any account was known belong to the first account.
    if (!ofKey.has(keyFolder)) ofKey.set(keyFolder, ofAccount);
    if (typeof service !== 'string' || typeof account !== 'string') continue;
    const print = /^key-([0-9a-f]{24})$/.exec(String(key))?.[1];
    if (print === undefined) continue;
    const file = join(root, serviceFolder(service), '@keys', `${print}.json`);
    await writeRecord(file, { version: 1, account });
  }
  const servicesOf = (some: readonly OldOwner[]) =>
    new Set(some.flatMap(records).flatMap(({ service }) => textsIn([service])));
  return (owner) => {
    const own = byHash.get(owner.name) ?? byHash.get(ofKey.get(owner.name) ?? '');
    if (own !== undefined) return [own];
    const named = servicesOf([owner]);
    // A folder with only torn files may belong to any service that was used.
    const services = named.size > 0 ? named : servicesOf(owners);
    return [...services].map((service) => join(root, serviceFolder(service), UNCLAIMED));
  };
}

async function carryInstance(
  { name, text = '', fields }: OldFile,
  folder: string,
  place: 'instances' | 'archive',
): Promise<void> {
  const { service: _service, account: _account, first_seen_at: _seen, ...kept } = fields ?? {};
  const record = parseRecord('instance', JSON.stringify(kept));
  const file = `${fileName(record?.id ?? name)}.json`;
  if (isThere(folder, file)) return;
  const path = join(folder, place, file);
  if (record !== undefined) {
    await writeRecord(path, record);
    return;
  }
  // The name of a torn file is the ID.
  await privateFolder(join(folder, place));
  await replaceFile(path, text);
}

function isThere(folder: string, file: string): boolean {
  return exists(join(folder, 'instances', file)) || exists(join(folder, 'archive', file));
}

/** Returns warnings. Requests for drives and API keys are not part of the journal any more. */
async function carryRequest(file: OldFile, folder: string): Promise<string[]> {
  const { fields = tornRequest(file.name), outcome } = file;
  if (fields === undefined) return [`A request of version 0.1.0 can't be read: ${file.path}`];
  const { kind = 'unknown', id } = outcome ?? {};
  const { operation, name, asked_at } = fields;
  const isOpen = kind === 'unknown';
  if (operation === 'drive' || operation === 'api_key') {
    const [what, list] =
      operation === 'drive' ? ['drive', 'drives list'] : ['API key', 'api-keys list'];
    return isOpen
      ? [
          `The outcome of the request for the ${what} ${String(name)} (${String(asked_at)}) is unknown: gpucloud ${list} shows whether it exists.`,
        ]
      : [];
  }
  const sender = fields.process;
  const pid = outcome === undefined && isObject(sender) ? sender.pid : null;
  const request = parseRecord(
    'request',
    JSON.stringify({
      ...only(fields, ['version', 'uid', 'operation', 'name', 'asked_at', 'offer_id', 'source_id']),
      ...only(fields, ['max_price', 'body']),
      pid: typeof pid === 'number' ? pid : null,
      timeout_ms: 60_000,
    }),
  );
  if (request === undefined) return [`A request of version 0.1.0 can't be read: ${file.path}`];
  if (isOpen) await carryOpen(request, folder);
  const { name: named, asked_at: known_at } = request;
  if (kind === 'rented' && typeof id === 'string') {
    const record = { ...newInstance(id, request.operation, known_at), name: named };
    await carryNew({ ...record, request: request.uid }, folder);
  }
  // Each may be the instance of a request whose outcome is unknown.
  for (const candidate of isOpen ? textsIn(outcome?.candidates) : []) {
    await carryNew(newInstance(candidate, 'read', known_at), folder);
  }
  return [];
}

async function carryNew(record: InstanceRecord, folder: string): Promise<void> {
  const file = `${fileName(record.id)}.json`;
  if (!isThere(folder, file)) await writeRecord(join(folder, 'instances', file), record);
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
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

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function only(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
}

/** Rebuilds a torn request from its file name, which holds the time and serves as the name. */
function tornRequest(uid: string): Fields | undefined {
  const [, hour, minute, second] =
    /^(\d{4}-\d\d-\d\dT\d\d)(\d\d)(\d\d\.\d{3}Z)-[0-9a-f-]{36}$/.exec(uid) ?? [];
  if (hour === undefined) return undefined;
  const asked_at = `${hour}:${minute}:${second}`;
  return { version: 1, uid, operation: 'create', name: uid, asked_at, offer_id: null };
}
