import { statSync } from 'node:fs';
import { join } from 'node:path';
import { privateFolder } from '../files/private-folder.ts';
import { replaceFile } from '../files/replace.ts';
import { readText } from './folder.ts';
import { namesIn, OWNER } from './pending.ts';
import { sha256 } from './sha256.ts';

/** Whose machines these are: another account's never show up. */
export interface Scope {
  /** The base URL, or `sandbox` for the built-in service. */
  readonly service: string;
  /** The account's user id, where it is known. */
  readonly account?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** The folders of one owner; the name of each is a hash, so that a name says nothing of its owner. */
export interface OwnFolders {
  /** Where new things go. */
  readonly main: string;
  /** All that are the owner's, `main` first. */
  readonly all: readonly string[];
  /** Whether the account behind the key is known. */
  readonly accountKnown: boolean;
}

/** The file names of the folder of accounts: the account's folder, then the key's. */
const LINK = /^([0-9a-f]{24})\.([0-9a-f]{24})\.json$/;

/** Tells keys apart by a part of their hash, from which no key can be read. */
export function accountOfKey(apiKey: string): string {
  return `key-${sha256(apiKey).slice(0, 24)}`;
}

function folderOf(service: string, owner: string): string {
  return sha256(`${service}\n${owner}`).slice(0, 24);
}

interface Link {
  readonly account: string;
  readonly key: string;
}

/**
 * The folders that belong to a scope. What was asked for with a key before its account was known
 * lies in a folder of the key; it is the account's as soon as a file in `accounts/` says whose key
 * it is. That is told by the file's name, so that one look into the folder is enough.
 */
export async function ownFolders(root: string, scope: Scope): Promise<OwnFolders> {
  const links = await linksIn(root);
  const { apiKey } = scope;
  const ofKey = once(() =>
    apiKey === undefined ? undefined : folderOf(scope.service, accountOfKey(apiKey)),
  );
  const mine = links.filter(({ key }) => key === ofKey());
  const account =
    scope.account === undefined
      ? latest(root, mine)?.account
      : folderOf(scope.service, scope.account);
  if (account === undefined) {
    const main = ofKey() ?? folderOf(scope.service, '');
    return { main, all: [main], accountKnown: false };
  }
  // The hashes that name the folders of keys take longer than a look into the account's own.
  const keys = once(() => {
    const found = new Set<string>();
    for (const { key } of links.filter((link) => link.account === account)) {
      // A play service that was reset has a new account behind the same key: what was asked for
      // before any account was known is the first one's.
      const owner = first(
        root,
        links.filter((link) => link.key === key),
      );
      if (owner?.account === account) found.add(key);
    }
    const own = mine.length === 0 ? ofKey() : undefined;
    return own === undefined ? found : found.add(own);
  });
  return {
    main: account,
    get all() {
      return [account, ...keys()];
    },
    accountKnown: scope.account !== undefined || mine.length > 0,
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The id of the account behind the key, where it was learned. */
export async function knownAccount(
  root: string,
  { service, apiKey }: Scope,
): Promise<string | undefined> {
  if (apiKey === undefined) {
    return undefined;
  }
  const key = folderOf(service, accountOfKey(apiKey));
  const link = latest(
    root,
    (await linksIn(root)).filter((one) => one.key === key),
  );
  return link === undefined ? undefined : textIn(fileOf(root, link), 'account');
}

/** Keeps whose key it is. Once is enough; nothing happens when it is known. */
export async function linkAccount(
  root: string,
  { service, apiKey }: Scope,
  account: string,
  now: string,
): Promise<void> {
  if (apiKey === undefined) {
    return;
  }
  const link = {
    account: folderOf(service, account),
    key: folderOf(service, accountOfKey(apiKey)),
  };
  if (
    (await linksIn(root)).some(({ account, key }) => account === link.account && key === link.key)
  ) {
    return;
  }
  await privateFolder(join(root, 'accounts'));
  const content = { version: 1, service, account, key: accountOfKey(apiKey), learned_at: now };
  await replaceFile(fileOf(root, link), `${JSON.stringify(content)}\n`);
}

/** The folders that are not the owner's, and whether a link says whose they are. */
export async function otherFolders(
  root: string,
  own: OwnFolders,
): Promise<{ name: string; isLinked: boolean }[]> {
  const linked = new Set((await linksIn(root)).flatMap(({ account, key }) => [account, key]));
  return (await namesIn(root))
    .filter((name) => OWNER.test(name) && !own.all.includes(name))
    .map((name) => ({ name, isLinked: linked.has(name) }));
}

/** The folders of the accounts whose key it is, as far as was learned. */
export async function ownersOfKey(root: string, service: string, key: string): Promise<string[]> {
  const folder = folderOf(service, key);
  return (await linksIn(root)).filter((link) => link.key === folder).map(({ account }) => account);
}

/** Keeps that the things of a key's folder are those of the owner's account. */
export async function linkFolder(
  root: string,
  own: OwnFolders,
  key: string,
  now: string,
): Promise<void> {
  await privateFolder(join(root, 'accounts'));
  const content = { version: 1, found_by: 'a reading', learned_at: now };
  await replaceFile(fileOf(root, { account: own.main, key }), `${JSON.stringify(content)}\n`);
}

function fileOf(root: string, { account, key }: Link): string {
  return join(root, 'accounts', `${account}.${key}.json`);
}

/**
 * Without the folder, each key stands for itself. Throws what the file system throws for one that
 * is there and can't be read: without it, machines would be missing without a word.
 */
async function linksIn(root: string): Promise<Link[]> {
  return (await namesIn(join(root, 'accounts'))).flatMap((name) => {
    const [, account, key] = LINK.exec(name) ?? [];
    return account === undefined || key === undefined ? [] : [{ account, key }];
  });
}

function latest(root: string, links: readonly Link[]): Link | undefined {
  return byAge(root, links).at(-1);
}

function first(root: string, links: readonly Link[]): Link | undefined {
  return byAge(root, links)[0];
}

/** Several accounts behind one key are rare, so that the files are read only then. */
function byAge(root: string, links: readonly Link[]): readonly Link[] {
  if (links.length < 2) {
    return links;
  }
  const dated = links.map((link) => ({ link, at: learnedAt(fileOf(root, link)) }));
  return dated.sort((a, b) => (a.at < b.at ? -1 : 1)).map(({ link }) => link);
}

function learnedAt(file: string): string {
  const told = textIn(file, 'learned_at');
  if (told !== undefined) return told;
  try {
    // The name of a torn file still counts; its time is the file system's.
    return statSync(file).mtime.toISOString();
  } catch {
    return '';
  }
}

function textIn(file: string, field: string): string | undefined {
  try {
    const content: unknown = JSON.parse(readText(file) ?? '');
    const value: unknown =
      typeof content === 'object' && content !== null ? Reflect.get(content, field) : undefined;
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
