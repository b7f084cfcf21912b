import * as z from 'zod/mini';
import { anyName } from '../../rules/names.ts';
import { filled, flag, id, ruled, text } from './fields.ts';

const fields = {
  name: text,
  public_key: text,
  fingerprint: text,
  is_default: flag,
  created_at: text,
  updated_at: text,
};

/** API document: Resources, SSH key. */
export const sshKey = z.looseObject({ id, ...fields });

/** A key as it stands inside an instance, where nothing hangs on its id. */
export const instanceSshKey = z.looseObject({ id: text, ...fields });

/** API document: Endpoints, POST /ssh-keys. */
export const addSshKeyBody = z.strictObject({
  name: ruled(anyName),
  public_key: filled,
  is_default: z.optional(z.boolean()),
});

export type SshKey = z.infer<typeof sshKey>;
export type AddSshKeyBody = z.infer<typeof addSshKeyBody>;
