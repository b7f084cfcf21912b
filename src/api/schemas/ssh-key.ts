import * as z from 'zod/mini';
import { lazy } from '../../lazy.ts';
import { anyName } from '../../rules/names.ts';
import { fields, filled, type Infer, ruled } from './fields.ts';

/** A key inside an instance, where its ID is not needed. */
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

export type SshKey = Infer<typeof sshKey>;
export type AddSshKeyBody = Infer<typeof addSshKeyBody>;
