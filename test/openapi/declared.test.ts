import { expect, test } from 'vitest';
import * as account from '../../src/api/schemas/account.ts';
import { drive } from '../../src/api/schemas/drive.ts';
import * as instances from '../../src/api/schemas/instance.ts';
import { template } from '../../src/api/schemas/template.ts';
import { type Schema, schemaOf } from './description.ts';

const CLIENT = {
  Instance: instances.instance,
  InstanceEvent: instances.instanceEvent,
  Offer: instances.offer,
  BaseImage: instances.baseImage,
  Drive: drive,
  Template: template,
  SshKey: account.sshKey,
  User: account.user,
  ApiKey: account.apiKey,
  Transaction: account.transaction,
  PromoBonus: account.promoBonus,
};

interface Field {
  safeParse(value: unknown): { success: boolean };
}

const SAMPLES = { string: 'x', number: 1, boolean: true, object: {}, array: [] };

/** Returns the types of a value that a schema accepts in a place. */
function acceptedBy(field: Field | undefined, around: (value: unknown) => unknown): string {
  if (field === undefined) return 'not declared';
  const types = Object.entries(SAMPLES).filter(
    ([, sample]) => field.safeParse(around(sample)).success,
  );
  return types.length === Object.keys(SAMPLES).length ? 'open' : types.map(([type]) => type).join();
}

/** Lists the fields whose type in the client is neither the documented one nor open. */
function oddFields(
  described: Schema,
  field: Field | undefined,
  path: string,
  around: (value: unknown) => unknown = (value) => value,
): string[] {
  const { type = 'open', properties = {}, items } = schemaOf(described);
  const accepted = acceptedBy(field, around);
  const isFit =
    accepted === type.replace('integer', 'number') ||
    (accepted === 'open' && ['object', 'array'].includes(type));
  if (!isFit) return [`${path}: ${type} in the document, ${accepted} in the client`];
  if (accepted === 'open') return [];
  return [
    ...Object.entries(properties).flatMap(([name, inner]) =>
      oddFields(inner, field, `${path}.${name}`, (value) => around({ [name]: value })),
    ),
    ...(items === undefined
      ? []
      : oddFields(items, field, `${path}[]`, (value) => around([value]))),
  ];
}

test.each(Object.entries(CLIENT))('reads each documented field of %s', (name, schema) => {
  const shape: Readonly<Record<string, Field>> = schema().shape;
  const odd = Object.entries(schemaOf(name).properties ?? {}).flatMap(([field, described]) =>
    oddFields(described, shape[field], `${name}.${field}`),
  );
  expect(odd).toEqual([]);
});

/** Lists the fields that may not be null, also inside other fields, but no rows of lists. */
function requiredIn(
  described: Schema,
  field: Field | undefined,
  path: string,
  around: (value: unknown) => unknown = (value) => value,
): string[] {
  const { properties = {}, items } = schemaOf(described);
  const inner = Object.entries(properties).flatMap(([name, one]) =>
    requiredIn(one, field, `${path}.${name}`, (value) => around({ [name]: value })),
  );
  const each =
    items === undefined ? [] : requiredIn(items, field, `${path}[]`, (value) => around([value]));
  const isRequired = !path.endsWith('[]') && field?.safeParse(around(null)).success === false;
  return [...(isRequired ? [path] : []), ...inner, ...each];
}

test.each<[keyof typeof CLIENT, readonly string[]]>([
  ['Instance', ['id', 'status']],
  ['InstanceEvent', ['id']],
  ['Offer', []],
  ['BaseImage', []],
  ['Drive', ['id']],
  ['Template', ['id']],
  ['SshKey', ['id']],
  ['User', ['id']],
  ['ApiKey', ['id']],
  ['Transaction', ['id']],
  ['PromoBonus', []],
])('requires of %s only %j', (name, required) => {
  const shape: Readonly<Record<string, Field>> = CLIENT[name]().shape;
  const found = Object.entries(schemaOf(name).properties ?? {}).flatMap(([field, described]) =>
    requiredIn(described, shape[field], field),
  );
  expect(found).toEqual(required);
});
