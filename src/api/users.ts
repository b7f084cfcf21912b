import type { Run } from './calls/call.ts';
import { getData, postOnce } from './calls/perform.ts';
import { bodyOf } from './calls/request.ts';
import type { CallOptions } from './contract.ts';
import {
  type SetPasswordBody,
  setPasswordBody,
  type UpdateUserBody,
  type User,
  updateUserBody,
  user,
} from './schemas/user.ts';

export interface UsersApi {
  /** The owner of the key (API document: Endpoints, GET /users/me). */
  me(options?: CallOptions): Promise<User>;
  /** Changes the name, the one field that can be (API document: Endpoints, PATCH /users/me). */
  update(body: UpdateUserBody, options?: CallOptions): Promise<User>;
  /**
   * Sets a new password (API document: Endpoints, POST /users/me/update-password). Never sent again
   * once it may have left; a doubt is CliError `outcomeUnknown`.
   */
  setPassword(body: SetPasswordBody, options?: CallOptions): Promise<User>;
}

export function usersApi(run: Run): UsersApi {
  return {
    me(options) {
      return run(options, (call) =>
        getData(
          call,
          { heading: 'GET /users/me', doing: 'to show the profile', changes: false },
          { method: 'GET', path: '/users/me' },
          user,
        ),
      );
    },
    update(body, options) {
      return run(options, (call) =>
        getData(
          call,
          {
            heading: 'PATCH /users/me',
            doing: 'to update the profile',
            changes: true,
            repeatable: true,
            doubt: 'The name may have changed.',
          },
          { method: 'PATCH', path: '/users/me', body: bodyOf(updateUserBody, body) },
          user,
        ),
      );
    },
    setPassword(body, options) {
      return run(options, (call) =>
        postOnce(
          call,
          {
            heading: 'POST /users/me/update-password',
            doing: 'to set the password',
            changes: true,
            doubt: 'Either of the two passwords may be the valid one.',
          },
          {
            method: 'POST',
            path: '/users/me/update-password',
            body: bodyOf(setPasswordBody, body),
          },
          user,
        ),
      );
    },
  };
}
