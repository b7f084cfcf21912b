import { beforeAll, describe, expect, test } from 'vitest';
import { localTime } from '../../src/output/time.ts';
import { MASK } from '../../src/rules/secrets.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { sshPublicKey } from '../support/ssh-key.ts';
import { describedService, REORDERED_ID } from './described-service.ts';
import { type Checker, describedChecker } from './description.ts';
import { type Leaf, leavesOf, valueAt, withValue } from './leaves.ts';
import { DRIVE_ID, INSTANCE_ID, type Samples, samples } from './samples.ts';

interface Command {
  readonly argv: readonly string[];
  readonly stdin?: string;
  /** Whether the JSON is a list of the resource. */
  readonly isList?: true;
  /** Fields that differ in this command's response. */
  readonly changed?: object;
}

interface Resource {
  /** Name of the resource's schema in the description. */
  readonly schema: string;
  /** All commands whose JSON is this resource or a list of such resources. */
  readonly json: readonly Command[];
  /** The commands that print the resource as text. The test also runs each with all columns. */
  readonly people: readonly (readonly string[])[];
  read(all: Samples): unknown;
  write(all: Samples, value: object): void;
  /** Fields that JSON masks, with their masked form. */
  readonly masked?: Readonly<Record<string, unknown>>;
  /** The text that people see instead of a value, by field. */
  readonly shownAs?: Readonly<Record<string, string>>;
  /** Fields that only JSON and YAML show. */
  readonly onlyInJson?: readonly string[];
}

const GET = ['instances', 'get', INSTANCE_ID];

const RESOURCES: readonly Resource[] = [
  {
    schema: 'Instance',
    json: [
      // gpucloud adds the deadline, which is stored on this computer.
      { argv: GET, changed: { ends_at: null, cost_estimate: '2236.20' } },
      {
        argv: ['instances', 'create', 'abc', '--offer', 'a', '--image', 'b'],
        changed: { status: 'PROVISIONING', name: 'abc', ends_at: null },
      },
      {
        argv: ['instances', 'reorder', INSTANCE_ID, 'again'],
        // The document says: "storage_drive omitted in the response shape".
        changed: {
          id: REORDERED_ID,
          status: 'PROVISIONING',
          name: 'again',
          storage_drive: undefined,
          ends_at: null,
        },
      },
      {
        argv: ['instances', 'list'],
        isList: true,
        changed: { ends_at: null, unread: false, cost_estimate: '2236.20' },
      },
    ],
    // The catalog contains the offers and images that the earlier commands read.
    people: [
      GET,
      ['instances', 'list'],
      ['instances', 'endpoints', INSTANCE_ID],
      ['catalog', 'list'],
    ],
    read: (all) => all.instance,
    write: (all, value) => {
      all.instance = { ...value };
    },
    masked: {
      // The document says: "tokens, environment name, etc."
      metadata: { token: MASK },
      // The document says: "generated passwords and tokens".
      'connection_info.secrets': { NOTEBOOK_TOKEN: MASK },
      // The links of endpoints contain the same token.
      'connection_info.endpoints': [
        {
          name: 'notebook-endpoint',
          port: 2205,
          url: `https://notebook.example.com/?token=${MASK}`,
        },
      ],
      // Values of environment variables are often passwords.
      docker_config: expect.objectContaining({ env: [{ key: 'INSIDE_KEY', value: MASK }] }),
    },
    // The details show these resources by name. Their other fields are for programs.
    onlyInJson: [
      'offer.provider_id',
      'offer.gpu_model_id',
      'offer.external_offer_id',
      'offer.gpu_model.id',
      'offer.gpu_model.slug',
      'offer.gpu_model.description',
      'offer.gpu_model.created_at',
      'offer.gpu_model.updated_at',
      'offer.created_at',
      'offer.updated_at',
      'provider.id',
      'provider.slug',
      'provider.created_at',
      'provider.updated_at',
      'base_image.description',
      'base_image.logo_url',
      'base_image.sort_order',
      'ssh_keys[].id',
      'ssh_keys[].public_key',
      'ssh_keys[].is_default',
      'ssh_keys[].created_at',
      'ssh_keys[].updated_at',
    ],
  },
  {
    schema: 'InstanceEvent',
    json: [
      { argv: ['instances', 'events', INSTANCE_ID], isList: true },
      { argv: ['instances', 'events', INSTANCE_ID, '--all'], isList: true },
    ],
    people: [['instances', 'events', INSTANCE_ID]],
    read: (all) => all.events[0],
    write: (all, value) => {
      all.events = [value];
    },
  },
  {
    schema: 'Drive',
    json: [
      { argv: ['drives', 'get', DRIVE_ID] },
      { argv: ['drives', 'list'], isList: true },
      { argv: ['drives', 'create', 'data', '--size', '5'] },
      { argv: ['drives', 'update', DRIVE_ID, '--size', '5'] },
      { argv: ['drives', 'resume', DRIVE_ID] },
    ],
    people: [
      ['drives', 'get', DRIVE_ID],
      ['drives', 'list'],
    ],
    read: (all) => all.drives[0],
    write: (all, value) => {
      all.drives = [value];
    },
    shownAs: { used_bytes: '68.00 GiB' },
  },
  {
    schema: 'SshKey',
    json: [
      { argv: ['ssh-keys', 'get', 'laptop-sample'] },
      { argv: ['ssh-keys', 'list'], isList: true },
      { argv: ['ssh-keys', 'add', '-', '--name', 'new'], stdin: sshPublicKey('ssh-ed25519') },
      { argv: ['ssh-keys', 'delete', 'laptop-sample', '--yes'] },
    ],
    people: [
      ['ssh-keys', 'get', 'laptop-sample'],
      ['ssh-keys', 'list'],
    ],
    read: (all) => all.sshKeys[0],
    write: (all, value) => {
      all.sshKeys = [value];
    },
  },
  {
    schema: 'ListedApiKey',
    json: [{ argv: ['api-keys', 'list'], isList: true }],
    people: [['api-keys', 'list']],
    read: (all) => all.apiKeys[0],
    write: (all, value) => {
      all.apiKeys = [value];
    },
  },
  {
    schema: 'CreatedApiKey',
    json: [{ argv: ['api-keys', 'create', 'ci'] }],
    people: [['api-keys', 'create', 'ci']],
    read: (all) => all.createdApiKey,
    write: (all, value) => {
      all.createdApiKey = { ...value };
    },
  },
  {
    schema: 'Template',
    json: [
      { argv: ['templates', 'get', 'template-id-1'] },
      { argv: ['templates', 'list'], isList: true },
    ],
    people: [
      ['templates', 'get', 'template-id-1'],
      ['templates', 'list'],
    ],
    read: (all) => all.templates[0],
    write: (all, value) => {
      all.templates = [value];
    },
  },
  {
    schema: 'User',
    json: [
      { argv: ['me', 'get'] },
      { argv: ['billing', 'balance'] },
      { argv: ['me', 'set-password', '--stdin'], stdin: 'the old one\nthe new one\n' },
    ],
    people: [['me', 'get']],
    read: (all) => all.user,
    write: (all, value) => {
      all.user = { ...value };
    },
  },
  {
    schema: 'UpdatedUser',
    json: [{ argv: ['me', 'update', '--name', 'Anna'] }],
    people: [['me', 'update', '--name', 'Anna']],
    read: (all) => all.updatedUser,
    write: (all, value) => {
      all.updatedUser = { ...value };
    },
  },
  {
    schema: 'Transaction',
    json: [
      { argv: ['billing', 'transactions'], isList: true },
      { argv: ['billing', 'transactions', '--all'], isList: true },
    ],
    people: [['billing', 'transactions']],
    read: (all) => all.transactions[0],
    write: (all, value) => {
      all.transactions = [value];
    },
  },
  {
    schema: 'PromoBonus',
    json: [{ argv: ['billing', 'promo', 'WELCOME'] }],
    people: [['billing', 'promo', 'WELCOME']],
    read: (all) => all.bonus,
    write: (all, value) => {
      all.bonus = { ...value };
    },
  },
];

let checker: Checker;
let world: World | undefined;

beforeAll(async () => {
  checker = await describedChecker();
});

/** Creates a world that serves these samples, which must follow the description. */
async function serve(all: Samples, status?: string) {
  const service = describedService(checker, all, status === undefined ? {} : { status });
  const opened = await createWorld({ handler: service.handler });
  world = opened;
  return {
    async run({ argv, stdin }: Command): Promise<string> {
      const { code, stdout, stderr } = await opened.cli(argv, stdin === undefined ? {} : { stdin });
      expect(service.complaints).toEqual([]);
      expect(code, stderr).toBe(0);
      return stdout;
    },
    /** Returns all columns of a command, from its error for an unknown column. */
    async columnsOf(argv: readonly string[]): Promise<string> {
      const { code, stderr } = await opened.cli([...argv, '--columns', 'no-such-column']);
      expect(code).toBe(2);
      const told = /available columns: ([a-z0-9_, ]+)/.exec(stderr)?.[1];
      expect(told, stderr).toBeDefined();
      return (told ?? '').replaceAll(', ', ',');
    },
  };
}

function schemaLeaves(schema: string): readonly Leaf[] {
  // The closed schemas of a key and a user add rules, but no fields.
  if (schema.endsWith('ApiKey')) {
    const listed = schema === 'ListedApiKey';
    return leavesOf('ApiKey').filter(({ name }) => !listed || name !== 'secret_key');
  }
  if (schema === 'UpdatedUser') return leavesOf('User');
  const isProfile = schema === 'User';
  return leavesOf(schema).filter(
    ({ name }) => !isProfile || (name !== 'reserved_balance' && name !== 'total_balance'),
  );
}

describe.each(RESOURCES)('each documented field of $schema', (resource) => {
  const { schema, json, people, masked = {}, shownAs = {}, onlyInJson = [] } = resource;
  const leaves = schemaLeaves(schema);
  const sample = resource.read(samples());

  test('contains a unique value for each documented field in the sample', () => {
    const texts = leaves
      .filter(({ type, words }) => type === 'string' && words === undefined)
      .map(({ path }) => valueAt(sample, path));
    for (const [at, text] of texts.entries()) {
      expect(text, leaves[at]?.name).toEqual(expect.stringMatching(/./));
      const others = texts.filter((_, other) => other !== at);
      expect(others.filter((other) => String(other).includes(String(text)))).toEqual([]);
    }
    const numbers = leaves.filter(({ type }) => type === 'number');
    const values = numbers.map(({ path }) => valueAt(sample, path));
    expect(values.every((value) => typeof value === 'number')).toBe(true);
    expect(new Set(values).size).toBe(values.length);
    for (const { name, path } of leaves) {
      expect(valueAt(sample, path), name).not.toBeUndefined();
    }
  });

  test.each(json)(
    'prints each documented field in the JSON of $argv',
    async ({ changed = {}, isList, ...command }) => {
      const { run } = await serve(samples());
      const told = JSON.parse(await run({ ...command, argv: [...command.argv, '--json'] }));
      const [first] = isList ? told : [told];
      for (const { name, path } of leaves) {
        const expected = Object.hasOwn(changed, path[0] ?? '')
          ? valueAt(changed, path)
          : Object.hasOwn(masked, name)
            ? masked[name]
            : valueAt(sample, path);
        expect(valueAt(first, path), name).toEqual(expected);
      }
    },
  );

  test.each(json)(
    'prints each documented field unmasked in the JSON of $argv with --show-secrets',
    async (command) => {
      const { run } = await serve(samples());
      const argv = [...command.argv, '--json', '--show-secrets'];
      const whole = JSON.parse(JSON.stringify({ ...Object(sample), ...command.changed }));
      const told = JSON.parse(await run({ ...command, argv }));
      expect(told).toEqual(command.isList ? [whole] : whole);
    },
  );

  test('prints each documented field in a table or details unless listed as JSON-only', async () => {
    /** All columns of each command, which no value changes. */
    const columns = new Map<readonly string[], string>();
    /** Returns the text output for a resource with this value. */
    const seen = async (value: unknown): Promise<string> => {
      const all = samples();
      resource.write(all, Object(value));
      // Each call has its own home, so that a run can't learn from an earlier run.
      const { run, columnsOf } = await serve(all);
      const texts: string[] = [];
      for (const argv of people) {
        texts.push(await run({ argv: [...argv, '--show-secrets'] }));
        const all = columns.get(argv) ?? (await columnsOf(argv));
        columns.set(argv, all);
        texts.push(await run({ argv: [...argv, '--show-secrets', '--columns', all] }));
      }
      await world?.close();
      return texts.join('\n');
    };

    const usual = await seen(sample);
    const unseen: string[] = [];
    for (const { name, path, type, words } of leaves) {
      if (type === 'open') continue;
      const value = valueAt(sample, path);
      // "true" and "IN_USE" may appear for another reason, so require that these values change the
      // output.
      const other = type === 'boolean' ? value !== true : words?.find((word) => word !== value);
      const isThere =
        other === undefined
          ? hasValue(usual, shownAs[name] ?? asShown(String(value)))
          : (await seen(withValue(sample, path, other))) !== usual;
      if (!isThere) unseen.push(name);
    }
    expect(unseen).toEqual(onlyInJson);
  });
});

/** Returns the text that people see. Times are local. */
function asShown(value: string): string {
  return /^\d{4}-\d\d-\d\dT/.test(value) ? localTime(Date.parse(value)) : value;
}

/** Returns whether a text contains a value as a word: 20 is not in 2026 or 120. */
function hasValue(text: string, value: string): boolean {
  const at = text.indexOf(value);
  if (at < 0) return false;
  const before = text[at - 1] ?? ' ';
  const after = text[at + value.length] ?? ' ';
  return /^\d+$/.test(value) && (/[\w.:-]/.test(before) || /[\w:-]/.test(after))
    ? hasValue(text.slice(at + value.length), value)
    : true;
}
