import { beforeEach, describe, expect, test } from 'vitest';
import { anyText, fc, fewer, runs } from '../support/random.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import type { Answer } from '../support/service.ts';
import { type Schema, schemaOf } from './description.ts';
import { type Leaf, leavesOf, valueAt, withValue } from './leaves.ts';
import { DRIVE_ID, INSTANCE_ID, type Json, SSH_KEY_ID, samples } from './samples.ts';

// The document leaves much open, and a running service may change. These tests change responses in
// every way that a client must survive.

interface Reading {
  readonly argv: readonly string[];
  /** Name of the response's schema. */
  readonly schema: string;
  /** The path under test. Other paths return the usual samples. */
  readonly path: string;
  readonly sample: Json;
  /** Whether the command's JSON is a list. */
  readonly isList?: true;
  /** Whether the response is a list. */
  readonly inList?: true;
  readonly isPaged?: true;
  /** Fields that gpucloud adds to each row. */
  readonly adds?: Json;
  /** Whether a row without a name gets the ID as its name, as its published schema requires. */
  readonly isNamed?: true;
  /** Whether gpucloud computes the JSON, which then can't be compared with the response. */
  readonly isDerived?: true;
}

const all = samples();
const one = (rows: readonly unknown[]): Json => Object(rows[0]);

const READINGS: readonly Reading[] = [
  ...[
    { argv: ['instances', 'get', INSTANCE_ID], adds: { ends_at: null } },
    {
      argv: ['instances', 'list', '--all'],
      isList: true as const,
      isNamed: true as const,
      adds: { ends_at: null, unread: false },
    },
    { argv: ['instances', 'endpoints', INSTANCE_ID], isDerived: true as const },
    { argv: ['instances', 'secrets', INSTANCE_ID], isDerived: true as const },
  ].map((reading) => ({
    ...reading,
    schema: 'Instance',
    path: `/instances/${INSTANCE_ID}`,
    sample: all.instance,
  })),
  ...[[], ['--all']].map((flags) => ({
    argv: ['instances', 'events', INSTANCE_ID, ...flags],
    schema: 'InstanceEvent',
    path: `/instances/${INSTANCE_ID}/events`,
    sample: one(all.events),
    isList: true as const,
    inList: true as const,
    isPaged: true as const,
  })),
  {
    argv: ['drives', 'get', DRIVE_ID],
    schema: 'Drive',
    path: `/storage/drives/${DRIVE_ID}`,
    sample: one(all.drives),
  },
  {
    argv: ['drives', 'list'],
    schema: 'Drive',
    path: '/storage/drives',
    sample: one(all.drives),
    isList: true,
    inList: true,
  },
  {
    argv: ['ssh-keys', 'list'],
    schema: 'SshKey',
    path: '/ssh-keys',
    sample: one(all.sshKeys),
    isList: true,
    inList: true,
  },
  {
    argv: ['api-keys', 'list'],
    schema: 'ApiKey',
    path: '/api-keys',
    sample: one(all.apiKeys),
    isList: true,
    inList: true,
  },
  {
    argv: ['templates', 'list'],
    schema: 'Template',
    path: '/templates',
    sample: one(all.templates),
    isList: true,
    inList: true,
  },
  ...[
    ['me', 'get'],
    ['billing', 'balance'],
  ].map((argv) => ({ argv, schema: 'User', path: '/users/me', sample: all.user })),
  ...[[], ['--all'], ['--since', '3650d']].map((flags) => ({
    argv: ['billing', 'transactions', ...flags],
    schema: 'Transaction',
    path: '/billing/transactions',
    sample: one(all.transactions),
    isList: true as const,
    inList: true as const,
    isPaged: true as const,
  })),
  {
    argv: ['ssh-keys', 'get', SSH_KEY_ID],
    schema: 'SshKey',
    path: '/ssh-keys',
    sample: one(all.sshKeys),
    inList: true,
  },
  ...[[], ['--markdown']].map((flags) => ({
    argv: ['templates', 'get', 'template-id-1', ...flags],
    schema: 'Template',
    path: '/templates',
    sample: one(all.templates),
    inList: true as const,
  })),
];

let world: World;
/** The replaced response: its path and body. */
let bent: { readonly path: string; readonly body: unknown };

beforeEach(async () => {
  world = await createWorld({
    handler: ({ path }): Answer => {
      const at = path.split('?', 1)[0];
      const body = at === bent.path ? bent.body : usual(at ?? '');
      return { status: 200, body: body ?? { status: 'success', code: 200, data: [] } };
    },
  });
});

/** Returns drives that refer to the instance, so that `instances list` shows it. */
function usual(path: string): unknown {
  return path === '/storage/drives'
    ? { status: 'success', code: 200, data: all.drives }
    : undefined;
}

function serve(reading: Reading, value: unknown, beside: readonly unknown[] = []): void {
  const data = reading.inList ? [value, ...beside] : value;
  bent = {
    path: reading.path,
    body: {
      status: 'success',
      code: 200,
      data,
      ...(reading.isPaged
        ? { meta: { total: 1 + beside.length, page: 1, limit: 100, total_pages: 1 } }
        : {}),
    },
  };
}

const FORMS: readonly { readonly flags: readonly string[]; readonly terminal: boolean }[] = [
  { flags: [], terminal: true },
  { flags: [], terminal: false },
  { flags: ['-o', 'csv'], terminal: false },
  { flags: ['-o', 'yaml'], terminal: false },
  { flags: ['-o', 'id'], terminal: false },
];

/** One format is enough when a test changes each field separately. */
const QUICK = FORMS.slice(0, 1);

/** Selects other formats on each call. */
let turn = 0;

/** Expects success in the formats, and JSON equal to the response, in the same order. */
async function survives(
  reading: Reading,
  value: unknown,
  forms: typeof FORMS = fewer(FORMS, turn++),
  beside: readonly unknown[] = [],
) {
  serve(reading, value, beside);
  const { argv } = reading;
  if (!argv.includes('--markdown')) {
    const { code, stdout, stderr } = await world.cli([...argv, '--json', '--show-secrets']);
    expect(stderr).not.toContain('unexpected');
    expect(code, stderr).toBe(0);
    // gpucloud computes the estimate from other fields, and remembers that an instance was stopped.
    const told: unknown = JSON.parse(stdout, (name, inner) =>
      ['cost_estimate', 'was_stopped'].includes(name) ? undefined : inner,
    );
    if (!reading.isDerived) {
      const expected = reading.isList
        ? [value, ...beside].map((row) => ({ ...withName(row, reading), ...reading.adds }))
        : reading.adds === undefined
          ? value
          : { ...Object(value), ...reading.adds };
      // Compares texts, so that the order of fields and a field "__proto__" count.
      expect(JSON.stringify(inOrder(told, reading))).toBe(
        JSON.stringify(inOrder(expected, reading)),
      );
    }
  }
  for (const { flags, terminal } of argv.includes('--markdown') ? FORMS.slice(0, 2) : forms) {
    const { code, stderr } = await world.cli([...argv, ...flags], { terminal });
    expect(stderr).not.toContain('unexpected');
    // A sum without an unreadable amount is no result.
    const isSum = reading.schema === 'Transaction' && stderr.includes('The totals are incomplete.');
    expect(code, `${flags.join(' ')}: ${stderr}`).toBe(isSum ? 10 : 0);
  }
}

function withName(row: unknown, { isNamed }: Reading): Json {
  const { id, name } = Object(row);
  return isNamed === undefined || name != null ? Object(row) : { ...Object(row), name: id };
}

/** Sorts templates by ID, since the command sorts them by `sort_order`. */
function inOrder(value: unknown, { schema, isList }: Reading): unknown {
  return schema === 'Template' && isList && Array.isArray(value)
    ? value.toSorted((a, b) => String(valueAt(a, ['id'])).localeCompare(String(valueAt(b, ['id']))))
    : value;
}

const named = (reading: Reading) => ({ ...reading, words: reading.argv.join(' ') });

/** Fields that commands require, such as an instance's status. */
function isNeeded(reading: Reading, name: string): boolean {
  return name === 'id' || (reading.schema === 'Instance' && name === 'status');
}

describe.each(READINGS.map(named))('gpucloud $words', (reading) => {
  const leaves = leavesOf(reading.schema).filter(
    ({ path }) => valueAt(reading.sample, path) !== undefined,
  );
  const fields = Object.keys(reading.sample).filter((name) => !isNeeded(reading, name));
  const at = READINGS.findIndex(({ argv }) => argv === reading.argv);

  test('prints the response if a field is missing or null', async () => {
    for (const [number, name] of fewer(fields).entries()) {
      const { [name]: _gone, ...rest } = reading.sample;
      const bent = [rest, { ...reading.sample, [name]: null }];
      // `npm test` tries one of both for each field.
      const tried = runs(2, 1) === 2 ? bent : [bent[number % 2]];
      for (const value of tried) await survives(reading, value, QUICK);
    }
  });

  test('exits with 0 if a field has another type', async () => {
    const flags = reading.argv.includes('--markdown') ? [] : ['--json'];
    for (const name of fewer(fields)) {
      for (const odd of fewer([1000.5, true, 'text', ['a'], { a: 1 }], fields.indexOf(name))) {
        serve(reading, { ...reading.sample, [name]: odd });
        const { code, stdout, stderr } = await world.cli([...reading.argv, ...flags]);
        expect(code, `${name}: ${JSON.stringify(odd)}: ${stderr}`).toBe(0);
        if (flags.length > 0) JSON.parse(stdout);
        if (flags.length > 0 && stderr !== '') {
          const field = `data(\\.0)?\\.${name}\\b[^"\n]*`;
          const rest =
            'Unreadable fields are omitted. Run again with --debug to see the raw response.';
          const omitted = `document: ${field}\\. ${rest.replaceAll('.', '\\.')}`;
          // A text can be a wrong time, which is a warning of its own.
          const isWrongTime = odd === 'text' && name === 'created_at';
          expect(stderr).toMatch(new RegExp(isWrongTime ? 'an unreadable time: 1\\.' : omitted));
        }
      }
    }
  });

  test('exits with 0 if the response has only the required fields', async () => {
    const needed = Object.entries(reading.sample).filter(([name]) => isNeeded(reading, name));
    await survives(reading, Object.fromEntries(needed));
    const nulls = fields.map((name) => [name, null]);
    await survives(reading, Object.fromEntries([...needed, ...nulls]));
  });

  // Skips a resource without enums, since each word would repeat the same sample.
  const worded = leaves.filter(({ words }) => words !== undefined);
  if (worded.length > 0) {
    test('exits with 0 for undocumented enum values', async () => {
      for (const word of fewer(['HIBERNATING', 'lower case', '', '__proto__', 'toString'], at)) {
        await survives(reading, withAll(reading.sample, worded, word));
      }
    });
  }

  const open = leaves.filter(({ type }) => type === 'open');
  if (open.length > 0) {
    test('exits with 0 for any value of an open field', async () => {
      const deep = { a: { b: [1, { c: null }] } };
      const odds = [null, {}, [], '', 'text', 0, false, [null, [], {}], deep];
      for (const odd of fewer(odds, at)) {
        await survives(reading, withAll(reading.sample, open, odd));
      }
    });
  }

  test('exits with 0 for any generated response', async () => {
    await fc.assert(
      fc.asyncProperty(
        bentFrom(reading),
        fc.array(bentFrom(reading, fc.uuid()), { maxLength: 2 }),
        async (value, beside) => {
          await survives(
            reading,
            value,
            fewer(FORMS, turn++),
            reading.inList ? unlike(value, beside) : [],
          );
        },
      ),
      { numRuns: runs(8, 2) },
    );
  }, 120_000);
});

function withAll(sample: Json, leaves: readonly Leaf[], value: unknown): Json {
  return leaves.reduce((bending, { path }) => withValue(bending, path, value), sample);
}

/** Removes objects with a repeated ID. */
function unlike(first: unknown, others: readonly unknown[]): unknown[] {
  const ids = new Set([valueAt(first, ['id'])]);
  return others.filter((other) => {
    const id = valueAt(other, ['id']);
    if (ids.has(id)) return false;
    ids.add(id);
    return true;
  });
}

/**
 * Generates a value for a schema, with extra, missing and null fields, new enum values and odd
 * structures.
 */
function bentFrom(reading: Reading, id?: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const { properties = {} } = schemaOf(reading.schema);
  const needed: Record<string, fc.Arbitrary<unknown>> = {
    id: id ?? fc.constant(reading.sample.id),
    ...(reading.schema === 'Instance' ? { status: word(schemaOf('InstanceStatus')) } : {}),
  };
  const others = Object.entries(properties)
    .filter(([name]) => !Object.hasOwn(needed, name))
    .map(([name, schema]) => [name, fc.option(anyOf(schema), { nil: null })] as const);
  return withExtras(
    fc.record(
      { ...needed, ...Object.fromEntries(others) },
      { requiredKeys: Object.keys(needed), noNullPrototype: true },
    ),
    Object.keys(properties),
  );
}

function anyOf(given: Schema): fc.Arbitrary<unknown> {
  const schema = schemaOf(given);
  if (schema.type === 'object' && schema.properties !== undefined) {
    const fields = Object.entries(schema.properties).map(
      ([name, inner]) => [name, fc.option(anyOf(inner), { nil: null })] as const,
    );
    return withExtras(
      fc.record(Object.fromEntries(fields), { requiredKeys: [], noNullPrototype: true }),
      Object.keys(schema.properties),
    );
  }
  if (schema.type === 'array' && schema.items !== undefined) {
    return fc.array(anyOf(schema.items), { maxLength: 3 });
  }
  switch (schema.type) {
    case 'string':
      return word(schema);
    case 'number':
      return fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case 'boolean':
      return fc.boolean();
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

function word(schema: Schema): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(...(schema.enum ?? ['189.91', '2026-01-15T10:00:00.000Z', '-', ''])),
    fc.string(),
    anyText({ maxLength: 12 }),
  );
}

/** An object's built-in property names are ordinary names in a response. */
const HOSTILE = ['__proto__', 'constructor', 'toString', 'then', 'toJSON', 'length', 'error'];

function withExtras(base: fc.Arbitrary<object>, known: readonly string[]): fc.Arbitrary<unknown> {
  const name = fc
    .oneof(fc.constantFrom(...HOSTILE), fc.string())
    .filter((candidate) => !known.includes(candidate));
  const extras = fc.array(fc.tuple(name, fc.jsonValue({ maxDepth: 2 })), { maxLength: 3 });
  return fc.tuple(base, extras).map(([value, more]) =>
    // Parsed from JSON text, "__proto__" is a field and not the prototype.
    JSON.parse(JSON.stringify(Object.fromEntries([...Object.entries(value), ...more]))),
  );
}
