import type { Call, Run } from './calls/call.ts';
import { bodyOf, type Operation, segment } from './calls/operation.ts';
import { getData, post, remove } from './calls/perform.ts';
import { settled } from './calls/settle.ts';
import type { CallOptions } from './contract.ts';
import {
  type AddSshKeyBody,
  addSshKeyBody,
  type SshKey,
  sshKey,
  sshKeys,
} from './schemas/ssh-key.ts';

export function sshKeysApi(run: Run) {
  return {
    /** Lists all keys, newest first (API document: Endpoints, GET /ssh-keys). */
    list: (options?: CallOptions): Promise<SshKey[]> => run(options, list),

    /**
     * Registers a public key (API document: Endpoints, POST /ssh-keys). After an unknown outcome it reads
     * the list: the same key there is success, otherwise it sends once more.
     */
    add: (body: AddSshKeyBody, options?: CallOptions): Promise<SshKey> =>
      run(options, (call) => add(call, body)),

    /** Deletes a key for good (API document: Endpoints, DELETE /ssh-keys/{id}). */
    delete: (id: string, options?: CallOptions): Promise<void> =>
      run(options, (call) =>
        remove(call, {
          heading: 'DELETE /ssh-keys/{id}',
          doing: `to delete the SSH key ${id}`,
          id: segment(id, 'an SSH key'),
          resource: id,
          doubt: 'The key may be deleted.',
          missing: `SSH key ${id} not found`,
        }),
      ),
  };
}

function list(call: Call): Promise<SshKey[]> {
  return getData(call, { heading: 'GET /ssh-keys', doing: 'to list the SSH keys' }, sshKeys);
}

function add(call: Call, body: AddSshKeyBody): Promise<SshKey> {
  const operation: Operation = {
    heading: 'POST /ssh-keys',
    doing: `to add the SSH key ${body.name}`,
    body: bodyOf(addSshKeyBody, body),
    repeatable: true,
    resource: body.name,
    doubt: 'The key may be registered.',
  };
  const wanted = typeAndBlob(body.public_key);
  return settled(call, {
    operation,
    post: () => post(call, operation, sshKey),
    read: () => list(call),
    done: (keys) =>
      keys.find(({ public_key }) => public_key != null && typeAndBlob(public_key) === wanted),
  });
}

/** The identity of a public key: `TYPE BLOB`, without the comment. */
function typeAndBlob(publicKey: string): string {
  return publicKey.trim().split(/\s+/).slice(0, 2).join(' ');
}
