import * as z from 'zod/mini';
import { lazy } from '../../lazy.ts';
import { anyName } from '../../rules/names.ts';
import { fields, filled, type Infer, ruled } from './fields.ts';

/** API document: Resources, User. */
export const user = lazy(() => {
  const { text, flag } = fields();
  return z.looseObject({
    // No path contains it, so it may have any format, such as a sign-in provider's.
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

export type User = Infer<typeof user>;
export type UpdateUserBody = Infer<typeof updateUserBody>;
export type SetPasswordBody = Infer<typeof setPasswordBody>;
