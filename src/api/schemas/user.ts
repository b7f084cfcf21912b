import * as z from 'zod/mini';
import { anyName } from '../../rules/names.ts';
import { filled, flag, id, ruled, text } from './fields.ts';

/** API document: Resources, User. */
export const user = z.looseObject({
  id,
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

/** API document: Endpoints, PATCH /users/me. */
export const updateUserBody = z.strictObject({ name: ruled(anyName) });

/** API document: Endpoints, POST /users/me/update-password. Strength rules are not given. */
export const setPasswordBody = z.strictObject({ current_password: filled, new_password: filled });

export type User = z.infer<typeof user>;
export type UpdateUserBody = z.infer<typeof updateUserBody>;
export type SetPasswordBody = z.infer<typeof setPasswordBody>;
