import { anyName, apiKeyName, instanceName } from '../../rules/names.ts';
import { wholeNumber } from '../../rules/numbers.ts';
import { broken, kept, type Verdict } from '../../rules/rule.ts';
import {
  array,
  boolean,
  number,
  optional,
  strictObject,
  string,
  type ZodMiniType,
} from '../../zod.ts';
import { listTemplates } from '../catalog/templates.ts';
import { follows, followsAsText } from '../field.ts';
import {
  activatePromo,
  renameUser,
  updatedUserView,
  updatePassword,
  userView,
} from '../service/account.ts';
import { createApiKey, listApiKeys } from '../service/api-keys.ts';
import {
  createDrive,
  driveView,
  driveWith,
  listDrives,
  resumeDrive,
  updateDrive,
} from '../service/drives.ts';
import { eventsPage } from '../service/events.ts';
import { instanceView, reorderView, startView } from '../service/instance-view.ts';
import {
  createInstance,
  instanceWith,
  reorderInstance,
  startInstance,
  stopInstance,
  terminateInstance,
} from '../service/instances.ts';
import { transactionsPage } from '../service/ledger.ts';
import { type Meta, type Page, pageNumber } from '../service/pages.ts';
import { addSshKey, deleteSshKey, listSshKeys, sshKeyView } from '../service/ssh-keys.ts';
import { dockerConfig } from '../store/docker-config.ts';
import type { State } from '../store/state.ts';
import { parseBody, type RawBody, refuseBody } from './body.ts';

/** An authenticated request, after all due events have run. */
export interface Call {
  state: State;
  /** Virtual milliseconds since 1970. */
  now: number;
  /** The `{id}` of the path; empty if the path has none. */
  id: string;
  query(name: string): string | undefined;
  body: RawBody;
}

/** Content of the success envelope. */
export interface Answer {
  code: number;
  data?: unknown;
  meta?: Meta;
}

export interface Operation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path with `{id}`, as in the document. */
  path: string;
  answer(call: Call): Answer;
}

type Method = Operation['method'];

/** Returns an operation with a documented body. */
function withBody<T>(
  method: Method,
  path: string,
  code: number,
  schema: ZodMiniType<T>,
  run: (call: Call, body: T) => unknown,
): Operation {
  return {
    method,
    path,
    answer: (call) => ({ code, data: run(call, parseBody(schema, call.body)) }),
  };
}

/** Returns an operation that changes something and has no body. */
function action(path: string, run: (call: Call) => unknown): Operation {
  return {
    method: 'POST',
    path,
    answer: (call) => {
      refuseBody(call.body);
      return { code: 200, data: run(call) };
    },
  };
}

function read(path: string, run: (call: Call) => unknown): Operation {
  return { method: 'GET', path, answer: (call) => ({ code: 200, data: run(call) }) };
}

function readPage(
  path: string,
  defaultLimit: number,
  run: (call: Call, page: number, limit: number) => Page<unknown>,
): Operation {
  return {
    method: 'GET',
    path,
    answer: (call) => {
      const page = pageNumber('page', call.query('page'), 1);
      const limit = pageNumber('limit', call.query('limit'), defaultLimit);
      return { code: 200, ...run(call, page, limit) };
    },
  };
}

function newPassword(text: string): Verdict<string> {
  return text.length >= 8 ? kept(text) : broken('must be at least 8 characters long');
}

const instanceBody = strictObject({
  offer_id: string(),
  image_id: string(),
  instance_name: string().check(follows(instanceName)),
  ssh_keys: optional(array(string())),
  template_id: optional(string()),
  storage_drive_id: optional(string()),
  docker_config: optional(dockerConfig),
});
const reorderBody = strictObject({ new_name: string().check(follows(instanceName)) });
const driveBody = strictObject({
  name: string().check(follows(anyName)),
  size_gb: number().check(followsAsText((size) => wholeNumber(size, 1, 10_000))),
});
const sshKeyBody = strictObject({
  name: string().check(follows(anyName)),
  public_key: string(),
  is_default: optional(boolean()),
});
const passwordBody = strictObject({
  current_password: string(),
  new_password: string().check(follows(newPassword)),
});

/** The 23 documented operations (API document: Endpoints), in the document's order. */
export const OPERATIONS: readonly Operation[] = [
  withBody(
    'POST',
    '/api-keys',
    201,
    strictObject({ name: string().check(follows(apiKeyName)) }),
    ({ state, now }, body) => createApiKey(state, body.name, now),
  ),
  read('/api-keys', ({ state }) => listApiKeys(state)),

  withBody('POST', '/instances', 201, instanceBody, ({ state, now }, body) =>
    instanceView(state, createInstance(state, body, now)),
  ),
  withBody('POST', '/instances/{id}/reorder', 201, reorderBody, ({ state, now, id }, body) =>
    reorderView(state, reorderInstance(state, id, body.new_name, now)),
  ),
  read('/instances/{id}', ({ state, id }) => instanceView(state, instanceWith(state, id))),
  action('/instances/{id}/start', ({ state, now, id }) => startView(startInstance(state, id, now))),
  action('/instances/{id}/stop', ({ state, now, id }) => ({
    status: stopInstance(state, id, now).status,
  })),
  action('/instances/{id}/terminate', ({ state, now, id }) => ({
    status: terminateInstance(state, id, now).status,
  })),
  readPage('/instances/{id}/events', 10, ({ state, id }, page, limit) =>
    eventsPage(instanceWith(state, id), page, limit),
  ),

  read('/templates', () => listTemplates()),

  withBody('POST', '/storage/drives', 201, driveBody, ({ state, now }, body) =>
    driveView(createDrive(state, body, now)),
  ),
  read('/storage/drives', ({ state }) => listDrives(state).map(driveView)),
  read('/storage/drives/{id}', ({ state, id }) => driveView(driveWith(state, id))),
  withBody('PATCH', '/storage/drives/{id}', 200, driveBody, ({ state, now, id }, body) =>
    driveView(updateDrive(state, id, body, now)),
  ),
  withBody('POST', '/storage/drives/{id}/resume', 200, strictObject({}), ({ state, now, id }) =>
    driveView(resumeDrive(state, id, now)),
  ),

  withBody('POST', '/ssh-keys', 201, sshKeyBody, ({ state, now }, body) =>
    sshKeyView(addSshKey(state, body, now)),
  ),
  read('/ssh-keys', ({ state }) => listSshKeys(state).map(sshKeyView)),
  {
    method: 'DELETE',
    path: '/ssh-keys/{id}',
    answer: ({ state, id }) => {
      deleteSshKey(state, id);
      return { code: 200 };
    },
  },

  read('/users/me', ({ state }) => userView(state)),
  withBody(
    'PATCH',
    '/users/me',
    200,
    strictObject({ name: string().check(follows(anyName)) }),
    ({ state, now }, body) => {
      renameUser(state, body.name, now);
      return updatedUserView(state);
    },
  ),
  withBody('POST', '/users/me/update-password', 200, passwordBody, ({ state, now }, body) => {
    updatePassword(state, body.current_password, body.new_password, now);
    return userView(state);
  }),
  withBody(
    'POST',
    '/billing/promo/activate',
    200,
    strictObject({ code: string().check(follows(anyName)) }),
    ({ state, now }, body) => activatePromo(state, body.code, now),
  ),
  readPage('/billing/transactions', 20, ({ state, query }, page, limit) =>
    transactionsPage(state, page, limit, query('type')),
  ),
];
