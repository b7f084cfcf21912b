import { expect, test } from 'vitest';
import { asDiff, changedLines } from '../support/changed-lines.ts';
import { createWorld } from '../support/run-cli.ts';
import { no, ok } from '../support/service.ts';
import { leavesOf, type Path, valueAt, withValue } from './leaves.ts';
import { DRIVE_ID, INSTANCE_ID, type Json, SSH_KEY_ID, samples } from './samples.ts';

const all = samples();
const first = (rows: readonly unknown[]): Json => Object(rows[0]);

/** One sample of each resource, with the words that its schema documents. */
const RESOURCES = {
  Instance: all.instance,
  InstanceEvent: first(all.events),
  Drive: first(all.drives),
  SshKey: first(all.sshKeys),
  ApiKey: first(all.apiKeys),
  Template: first(all.templates),
  User: all.user,
  Transaction: first(all.transactions),
} as const;

type Resource = keyof typeof RESOURCES;

interface Altered {
  /** What is altered: `offer.region missing`. */
  readonly what: string;
  readonly value: Json;
}

/** Returns a resource without each field, with each field null, and with each other documented word. */
function alterationsOf(resource: Resource): Altered[] {
  const sample = RESOURCES[resource];
  const leaves = leavesOf(resource).filter(({ path }) => valueAt(sample, path) !== undefined);
  const paths = new Map<string, Path>();
  for (const { path } of leaves)
    for (const end of path.keys())
      paths.set(nameOf(path.slice(0, end + 1)), path.slice(0, end + 1));
  const altered: Altered[] = [];
  for (const [name, path] of paths) {
    if (name === 'id') continue;
    // A list loses its only item.
    const isItem = typeof path.at(-1) === 'number';
    const missing = isItem
      ? withValue(sample, path.slice(0, -1), [])
      : withValue(sample, path, undefined);
    altered.push({ what: `${name} missing`, value: missing });
    if (!isItem) altered.push({ what: `${name} null`, value: withValue(sample, path, null) });
  }
  for (const { name, path, type, words } of leaves) {
    if (name === 'id') continue;
    const value = valueAt(sample, path);
    const others: readonly unknown[] =
      words?.filter((word) => word !== value) ??
      { boolean: [value !== true], number: [0, 1], string: [''], open: [] }[type];
    for (const other of others)
      altered.push({
        what: `${name} ${JSON.stringify(other)}`,
        value: withValue(sample, path, other),
      });
  }
  return altered;
}

const nameOf = (path: Path) => path.map((step) => (step === 0 ? '[]' : step)).join('.');

/** Returns the same ID with another end. */
const numbered = (id: unknown, at: number) =>
  String(id).replace(/.{3}$/, String(at).padStart(3, '0'));

/** Serves lists of each resource, and each of their rows. */
function handlerOf(rows: Partial<Record<Resource, readonly Json[]>>) {
  const of = (resource: Resource) => rows[resource] ?? [RESOURCES[resource]];
  return ({ method, path }: { method: string; path: string }) => {
    if (method !== 'GET') return no(409, 'Not now');
    const [plain = ''] = path.split('?');
    const [, room = '', id = '', part] = plain.split('/');
    if (part === 'events') return page(of('InstanceEvent'));
    if (room === 'instances') {
      const found = of('Instance').find((row) => row.id === id);
      return found === undefined ? no(404, 'Instance not found') : ok(found);
    }
    if (room === 'storage') {
      const drive = of('Drive').find((row) => row.id === part);
      return part === undefined ? ok(of('Drive')) : ok(drive);
    }
    if (room === 'ssh-keys') return ok(of('SshKey'));
    if (room === 'api-keys') return ok(of('ApiKey'));
    if (room === 'templates') return ok(of('Template'));
    if (room === 'billing') return page(of('Transaction'));
    return ok(of('User')[0]);
  };
}

const page = (rows: readonly Json[]) =>
  ok(rows, 200, { total: rows.length, page: 1, limit: 100, total_pages: 1 });

type Rows = Partial<Record<Resource, readonly Json[]>>;

async function outputOf(argv: readonly string[], rows: Rows): Promise<string> {
  const world = await createWorld({ handler: handlerOf(rows) });
  const { code, stdout, stderr } = await world.cli(argv);
  await world.close();
  return `${stdout}${stderr}exit ${code}\n`;
}

interface Shown {
  readonly what: string;
  readonly shown: string;
}

/** Writes alterations that follow each other and show the same as one. */
function once(all: readonly Shown[]): string {
  return all
    .map(({ what, shown }, at) => (all[at + 1]?.shown === shown ? `${what}, or ` : what + shown))
    .join('');
}

/** The notes about instances that a drive names. */
const FOUND = /^Found an instance .*\n/gm;

/** Lists, whose rows can all be altered at once. */
const LISTS: readonly (readonly [Resource, readonly string[]])[] = [
  ['Instance', ['instances', 'list', '--all']],
  ['InstanceEvent', ['instances', 'events', INSTANCE_ID]],
  ['Drive', ['drives', 'list']],
  ['SshKey', ['ssh-keys', 'list']],
  ['ApiKey', ['api-keys', 'list']],
  ['Template', ['templates', 'list']],
  ['Transaction', ['billing', 'transactions']],
];

test.each(LISTS)(
  'shows a list of %s without a field, or with another value: %j',
  async (resource, argv) => {
    const rows = [{ what: '', value: RESOURCES[resource] }, ...alterationsOf(resource)].map(
      ({ what, value }, at) => ({ what, value: { ...value, id: numbered(value.id, at) } as Json }),
    );
    const drives = rows.map(({ value }) => ({ ...RESOURCES.Drive, current_instance_id: value.id }));
    const served: Rows = {
      ...(resource === 'Instance' ? { Drive: drives } : {}),
      [resource]: rows.map(({ value }) => value),
    };
    const wrong = await outputOf([...argv, '--columns', 'no-such'], served);
    const columns = /available columns: (.*)/.exec(wrong)?.[1]?.replaceAll(', ', ',') ?? wrong;
    const listed = (
      await outputOf([...argv, '-o', 'csv', '--columns', columns], served)
    ).replaceAll(FOUND, '');
    const cells = listed.split('\n').map((line) => line.split(','));
    const [heads = [], usual = []] = cells;
    const seen = rows.slice(1).flatMap(({ what }, at) => {
      const row = cells.find((each) => each.includes(numbered(usual[heads.indexOf('id')], at + 1)));
      const changes = heads.flatMap((head, column) =>
        head === 'id' || row?.[column] === usual[column]
          ? []
          : [`${head} ${usual[column]} -> ${row?.[column]}`],
      );
      return changes.length === 0 ? [] : [{ what, shown: `: ${changes.join(', ')}\n` }];
    });
    const rest = cells.slice(rows.length + 1).map((line) => line.join(','));
    await expect(`${once(seen)}${rest.join('\n')}`).toMatchFileSnapshot(
      `altered/${argv.slice(0, 2).join('-')}.txt`,
    );
  },
);

/** Commands that sum up what instances cost. */
const SUMS: readonly (readonly [string, readonly string[]])[] = [
  ['status', []],
  ['audit', []],
  ['billing', ['runway']],
  ['billing', ['spend', '--by', 'instance']],
];
const SUMMED =
  /^(name|status|price_per_hour_snapshot|(paid_until|created_at|failure_reason) ("|null))/;

test.each(SUMS)(
  'sums up instances without a field, or with another value: %s %j',
  async (...[group, more]) => {
    const rows = alterationsOf('Instance')
      .filter(({ what }) => SUMMED.test(what))
      .map(({ what, value }, at) => {
        const name = value.name === undefined || value.name === null ? {} : { name: what };
        return { ...value, ...name, id: numbered(value.id, at) } as Json;
      });
    const drives = rows.map(({ id }) => ({ ...RESOURCES.Drive, current_instance_id: id }));
    const text = await outputOf([group, ...more], { Instance: rows, Drive: drives });
    await expect(text.replaceAll(FOUND, '')).toMatchFileSnapshot(
      `altered/${[group, ...more.slice(0, 1)].join('-')}.txt`,
    );
  },
);

/** Commands that show one resource, or read it for something else. */
const DETAILS: readonly (readonly [Resource, readonly string[], RegExp])[] = [
  ['Instance', ['instances', 'get', INSTANCE_ID], /^/],
  ['Instance', ['instances', 'endpoints', INSTANCE_ID], /^(name|status|ip|connection|docker)/],
  ['Drive', ['drives', 'get', DRIVE_ID], /^/],
  ['SshKey', ['ssh-keys', 'get', SSH_KEY_ID], /^/],
  ['Template', ['templates', 'get', 'template-id-1'], /^/],
  ['User', ['me', 'get'], /^/],
  ['User', ['billing', 'balance'], /^/],
];

test.each(DETAILS)(
  'shows a %s without a field, or with another value: %j',
  async (resource, argv) => {
    const usual = await outputOf(argv, {});
    const seen: Shown[] = [];
    for (const { what, value } of alterationsOf(resource)) {
      const shown = asDiff(changedLines(usual, await outputOf(argv, { [resource]: [value] })));
      if (shown !== '') seen.push({ what, shown: `:\n${shown}` });
    }
    await expect(`${usual}\n${once(seen)}`).toMatchFileSnapshot(
      `altered/${argv.slice(0, 2).join('-')}.txt`,
    );
  },
);
