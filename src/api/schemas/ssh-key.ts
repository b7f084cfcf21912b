import { anyName } from '../../rules/names.ts';
import { boolean, type Infer, looseObject, optional, strictObject } from '../../schema/schema.ts';
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
export const sshKey = looseObject({ id, ...fields });

/** A key as it stands inside an instance, where nothing hangs on its id. */
export const instanceSshKey = looseObject({ id: text, ...fields });

/** API document: Endpoints, POST /ssh-keys. */
export const addSshKeyBody = strictObject({
  name: ruled(anyName),
  public_key: filled,
  is_default: optional(boolean()),
});

export type SshKey = Infer<typeof sshKey>;
export type AddSshKeyBody = Infer<typeof addSshKeyBody>;
