import type { MarkedKey } from '../../context/key-in-use.ts';
import { type Column, field, type View } from '../../output/output.ts';
import { SECRETS } from '../../rules/secrets.ts';

const columns: readonly Column<MarkedKey>[] = [
  field('name', 'NAME'),
  field('id', 'ID'),
  field('key_prefix', 'PREFIX', { spared: true }),
  field('is_active', 'ACTIVE', { kind: 'yes' }),
  field('in_use', 'IN USE', { kind: 'yes' }),
  field('expires_at', 'EXPIRES', { kind: 'time', spared: true }),
  field('last_used_at', 'LAST USED', { kind: 'time' }),
  field('created_at', 'CREATED', { kind: 'time', spared: true }),
  field('updated_at', 'UPDATED', { kind: 'time', hidden: true }),
];

/** A key without its secret, as lists return it (API document: Resources, API key). */
export const keyView: View<MarkedKey> = {
  columns,
  id: ({ id }) => id ?? null,
  empty: 'The account has no API keys.',
  secrets: SECRETS.apiKey,
  json: ({ in_use: _inUse, ...key }) => key,
};

/** A new key with its secret, which is shown only once. */
export const newKeyView: View<MarkedKey> = {
  ...keyView,
  columns: [field('secret_key', 'SECRET'), ...columns.filter(({ id }) => id !== 'in_use')],
  secrets: [],
};
