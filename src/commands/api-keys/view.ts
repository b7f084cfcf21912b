import type { MarkedKey } from '../../context/key-in-use.ts';
import type { Column, View } from '../../output/output.ts';

const columns: readonly Column<MarkedKey>[] = [
  { id: 'name', header: 'NAME', value: ({ key }) => key.name },
  { id: 'id', header: 'ID', value: ({ key }) => key.id },
  { id: 'key_prefix', header: 'PREFIX', value: ({ key }) => key.key_prefix },
  { id: 'is_active', header: 'ACTIVE', kind: 'yes', value: ({ key }) => key.is_active },
  { id: 'in_use', header: 'IN USE', kind: 'yes', value: (row) => row.in_use },
  { id: 'expires_at', header: 'EXPIRES', kind: 'time', value: ({ key }) => key.expires_at },
  { id: 'last_used_at', header: 'LAST USED', kind: 'time', value: ({ key }) => key.last_used_at },
  { id: 'created_at', header: 'CREATED', kind: 'time', value: ({ key }) => key.created_at },
  {
    id: 'updated_at',
    header: 'UPDATED',
    kind: 'time',
    value: ({ key }) => key.updated_at,
    hidden: true,
  },
];

/** A key without its secret, which no list contains (API document: Resources, API key). */
export const keyView: View<MarkedKey> = {
  columns,
  id: ({ key }) => key.id ?? null,
  empty: 'The account has no API keys.',
  secrets: ['key.secret_key'],
  json: ({ key }) => key,
};

/** A new key with its secret, which is shown only once. */
export const newKeyView: View<MarkedKey> = {
  columns: [
    { id: 'secret_key', header: 'SECRET', value: ({ key }) => key.secret_key },
    ...columns.filter(({ id }) => id !== 'in_use'),
  ],
  id: keyView.id,
  empty: keyView.empty,
  json: ({ key }) => key,
};
