import type { ApiKey } from '../../api/index.ts';
import type { Column, View } from '../../output/output.ts';

/** A key, and whether it is the one that this very command is made with. */
export interface KeyRow {
  /** A part where an answer was not whole. */
  readonly key: Partial<ApiKey>;
  /** null where that can't be told: several keys begin alike. */
  readonly in_use: boolean | null;
}

const columns: readonly Column<KeyRow>[] = [
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

/** A key without its secret, which no list holds (API document: Resources, API key). */
export const keyView: View<KeyRow> = {
  columns,
  id: ({ key }) => key.id ?? null,
  empty: 'The account has no API keys.',
  secrets: ['key.secret_key'],
  json: ({ key }) => key,
};

/** A new key with its secret, at the one moment at which there is one. */
export const newKeyView: View<KeyRow> = {
  columns: [
    { id: 'secret_key', header: 'SECRET', value: ({ key }) => key.secret_key },
    ...columns.filter(({ id }) => id !== 'in_use'),
  ],
  id: keyView.id,
  empty: keyView.empty,
  json: ({ key }) => key,
};
