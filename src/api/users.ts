import type { Run } from './calls/call.ts';
import { bodyOf } from './calls/operation.ts';
import { getData, postOnce } from './calls/perform.ts';
import type { CallOptions } from './contract.ts';
import {
  type SetPasswordBody,
  setPasswordBody,
  type UpdateUserBody,
  type User,
  updateUserBody,
  user,
} from './schemas/user.ts';

export function usersApi(run: Run) {
  return {
    /** Reads the key's owner (API document: Endpoints, GET /users/me). */
    me: (options?: CallOptions): Promise<User> =>
      run(options, (call) =>
        getData(call, { heading: 'GET /users/me', doing: 'to show the profile' }, user),
      ),

    /** Changes the name, the only editable field (API document: Endpoints, PATCH /users/me). */
    update: (body: UpdateUserBody, options?: CallOptions): Promise<User> =>
      run(options, (call) =>
        getData(
          call,
          {
            heading: 'PATCH /users/me',
            doing: 'to update the profile',
            body: bodyOf(updateUserBody, body),
            doubt: 'The name may have changed.',
          },
          user,
        ),
      ),

    /**
     * Sets a new password (API document: Endpoints, POST /users/me/update-password). Never sent again once
     * it may have left; an unknown outcome is CliError `outcomeUnknown`.
     */
    setPassword: (body: SetPasswordBody, options?: CallOptions): Promise<User> =>
      run(options, (call) =>
        postOnce(
          call,
          {
            heading: 'POST /users/me/update-password',
            doing: 'to set the password',
            body: bodyOf(setPasswordBody, body),
            doubt: 'Either password may be the valid one.',
          },
          user,
        ),
      ),
  };
}
