import { lazy } from '../../lazy.ts';
import { anyName, apiKeyName } from '../../rules/names.ts';
import * as z from '../../zod.ts';
import { count, fields, filled, type Infer, ruled } from './fields.ts';

/** API document: Resources, User. */
export const user = lazy(() => {
  const { text, flag } = fields();
  return z.looseObject({
    // No path contains this ID, so it may have any format, such as a sign-in provider's.
    id: filled(),
    role: text,
    name: text,
    email: text,
    yandex_id: text,
    github_id: text,
    balance: text,
    reserved_balance: text,
    total_balance: text,
    is_active: flag,
    is_email_verified: flag,
    has_password: flag,
    notify_billing: flag,
    notify_marketing: flag,
    verified_at: text,
    last_login_at: text,
    created_at: text,
    updated_at: text,
  });
});

/** API document: Endpoints, PATCH /users/me. */
export const updateUserBody = lazy(() => z.strictObject({ name: ruled(anyName) }));

/** API document: Endpoints, POST /users/me/update-password. No strength rules are documented. */
export const setPasswordBody = lazy(() =>
  z.strictObject({ current_password: filled(), new_password: filled() }),
);

/** An SSH key inside an instance, where no command needs the key's ID. */
export const instanceSshKey = lazy(() => {
  const { text, flag } = fields();
  return z.looseObject({
    id: text,
    name: text,
    public_key: text,
    fingerprint: text,
    is_default: flag,
    created_at: text,
    updated_at: text,
  });
});

/** API document: Resources, SSH key. */
export const sshKey = lazy(() => z.extend(instanceSshKey(), { id: fields().id }));
export const sshKeys = lazy(() => z.array(sshKey()));

/** API document: Endpoints, POST /ssh-keys. */
export const addSshKeyBody = lazy(() =>
  z.strictObject({
    name: ruled(anyName),
    public_key: filled(),
    is_default: z.optional(z.boolean()),
  }),
);

/** API document: Resources, API key. Only the response to creating a key has `secret_key`. */
export const apiKey = lazy(() => {
  const { id, text, flag } = fields();
  return z.looseObject({
    id,
    name: text,
    key_prefix: text,
    secret_key: text,
    is_active: flag,
    expires_at: text,
    last_used_at: text,
    created_at: text,
    updated_at: text,
  });
});
export const apiKeys = lazy(() => z.array(apiKey()));

/** API document: Endpoints, POST /api-keys. */
export const createApiKeyBody = lazy(() => z.strictObject({ name: ruled(apiKeyName) }));

/** API document: Resources, Transaction. */
export const transaction = lazy(() => {
  const { id, text } = fields();
  return z.looseObject({
    id,
    type: text,
    status: text,
    amount: text,
    direction: text,
    description: text,
    created_at: text,
  });
});
export const transactions = lazy(() => z.array(transaction()));

/** API document: Endpoints, GET /billing/transactions. A type can't contain a comma: commas separate types. */
export const transactionsQuery = lazy(() =>
  z.strictObject({
    page: count(),
    limit: count(),
    type: z.optional(z.array(z.string().check(z.regex(/^[A-Z_]+$/, 'it is in capital letters')))),
  }),
);

/** API document: Endpoints, POST /billing/promo/activate. */
export const promoBonus = lazy(() => {
  const { text } = fields();
  return z.looseObject({ added_amount: text, new_balance: text });
});

/** API document: Endpoints, POST /billing/promo/activate. */
export const activatePromoBody = lazy(() => z.strictObject({ code: filled() }));

export type User = Infer<typeof user>;
export type UpdateUserBody = Infer<typeof updateUserBody>;
export type SetPasswordBody = Infer<typeof setPasswordBody>;
export type SshKey = Infer<typeof sshKey>;
export type AddSshKeyBody = Infer<typeof addSshKeyBody>;
export type ApiKey = Infer<typeof apiKey>;
export type CreateApiKeyBody = Infer<typeof createApiKeyBody>;
export type Transaction = Infer<typeof transaction>;
export type TransactionsQuery = Infer<typeof transactionsQuery>;
export type PromoBonus = Infer<typeof promoBonus>;
export type ActivatePromoBody = Infer<typeof activatePromoBody>;
