import { CliError } from '../errors.ts';
import { leadsTo } from '../rules/statuses.ts';
import type { Call } from './calls/call.ts';
import { outcomeUnknown, resourceOf, sentence } from './calls/errors.ts';
import type { Operation } from './calls/operation.ts';
import { getData, getPage, type Posted, post, postOnce } from './calls/perform.ts';
import { bodyOf, queryOf, segment } from './calls/request.ts';
import type { Run } from './calls/run.ts';
import { settled, stateOf, statusWords } from './calls/settle.ts';
import type { CallOptions, Page } from './contract.ts';
import {
  type EventsQuery,
  eventsQuery,
  type Instance,
  type InstanceEvent,
  instance,
  instanceEvents,
  type StatusChange,
  statusChange,
} from './schemas/instance.ts';
import {
  type CreateInstanceBody,
  createInstanceBody,
  type ReorderInstanceBody,
  reorderInstanceBody,
} from './schemas/instance-body.ts';

export interface InstancesApi {
  /**
   * Rents a machine (API document: Endpoints, POST /instances). Never sent again once it may have
   * left; a doubt is CliError `outcomeUnknown` with `mayBeBilling`.
   */
  create(body: CreateInstanceBody, options?: CallOptions): Promise<Instance>;
  /**
   * Rents a machine like a terminated one, of which it takes offer, image and SSH keys (API
   * document: Endpoints, POST /instances/{id}/reorder). Never sent again, as with `create`.
   */
  reorder(id: string, body: ReorderInstanceBody, options?: CallOptions): Promise<Instance>;
  /** One machine (API document: Endpoints, GET /instances/{id}). */
  get(id: string, options?: CallOptions): Promise<Instance>;
  /**
   * Starts a STOPPED machine (API document: Endpoints, POST /instances/{id}/start). A refusal is
   * told apart by a fresh reading: not STOPPED, or not enough funds for the next hour. A doubt that
   * the reading settles (STARTING, ACTIVE) is success, with what the reading gave.
   */
  start(id: string, options?: CallOptions): Promise<StatusChange>;
  /**
   * Stops an ACTIVE machine (API document: Endpoints, POST /instances/{id}/stop). After a doubt the
   * state is read; STOPPING and STOPPED are success, else it is sent once more.
   */
  stop(id: string, options?: CallOptions): Promise<StatusChange>;
  /**
   * Deletes a machine for good (API document: Endpoints, POST /instances/{id}/terminate). After a
   * doubt the state is read; TERMINATING and TERMINATED are success, else it is sent once more.
   */
  terminate(id: string, options?: CallOptions): Promise<StatusChange>;
  /** One page of the event log, newest first (API document: Endpoints, GET /instances/{id}/events). */
  events(id: string, query?: EventsQuery, options?: CallOptions): Promise<Page<InstanceEvent>>;
}

const CREATED_DOUBT = 'A machine may exist and be billing.';
const CREATED_SETTLE =
  'gpucloud instances recover settles it; gpucloud instances list shows what is known.';

export function instancesApi(run: Run): InstancesApi {
  return {
    create(body, options) {
      return run(options, (call) =>
        postOnce(
          call,
          {
            heading: 'POST /instances',
            doing: `to create the instance ${body.instance_name}`,
            changes: true,
            resource: body.instance_name,
            bills: true,
            doubt: CREATED_DOUBT,
            settle: CREATED_SETTLE,
          },
          { method: 'POST', path: '/instances', body: bodyOf(createInstanceBody, body) },
          instance,
        ),
      );
    },
    reorder(id, body, options) {
      return run(options, (call) =>
        postOnce(
          call,
          {
            ...about('POST /instances/{id}/reorder', `to reorder the instance ${id}`, id),
            bills: true,
            doubt: CREATED_DOUBT,
            settle: CREATED_SETTLE,
            badState: `Only a TERMINATED instance can be reordered: gpucloud instances get ${id}`,
          },
          {
            method: 'POST',
            path: `${pathOf(id)}/reorder`,
            body: bodyOf(reorderInstanceBody, body),
          },
          instance,
        ),
      );
    },
    get(id, options) {
      return run(options, (call) => read(call, id));
    },
    start(id, options) {
      return run(options, (call) => start(call, id));
    },
    stop(id, options) {
      return run(options, (call) =>
        change(call, id, {
          verb: 'stop',
          goal: 'STOPPED',
          doubt: 'The machine may still be running and billing.',
          badState: `Only an ACTIVE instance can be stopped: gpucloud instances get ${id}`,
        }),
      );
    },
    terminate(id, options) {
      return run(options, (call) =>
        change(call, id, {
          verb: 'terminate',
          goal: 'TERMINATED',
          doubt: 'The machine may still exist and be billing.',
          badState: `It may be terminated already: gpucloud instances get ${id}`,
        }),
      );
    },
    events(id, query = {}, options) {
      return run(options, (call) =>
        getPage(
          call,
          {
            ...about('GET /instances/{id}/events', `to list the events of the instance ${id}`, id),
            changes: false,
          },
          { method: 'GET', path: `${pathOf(id)}/events${queryOf(eventsQuery, query)}` },
          instanceEvents,
          { page: query.page ?? 1, limit: query.limit ?? 10 },
        ),
      );
    },
  };
}

function pathOf(id: string): string {
  return `/instances/${segment(id, 'an instance')}`;
}

function about(heading: string, doing: string, id: string): Operation {
  return {
    heading,
    doing,
    changes: true,
    resource: id,
    missing: {
      words: `There is no instance ${id}`,
      hint: 'See the known ones: gpucloud instances list --all',
    },
  };
}

/** An answer about another machine would be taken for this one's state, and hide it. */
async function read(call: Call, id: string): Promise<Instance> {
  const found = await getData(
    call,
    { ...about('GET /instances/{id}', `to show the instance ${id}`, id), changes: false },
    { method: 'GET', path: pathOf(id) },
    instance,
  );
  if (found.id.toLowerCase() !== id.toLowerCase()) {
    throw new CliError(
      'notUnderstood',
      `Asked for the instance ${id}, the service answered with another one, ${found.id}.`,
      { resource: id },
    );
  }
  return found;
}

function change(
  call: Call,
  id: string,
  how: { verb: 'stop' | 'terminate'; goal: string; doubt: string; badState: string },
): Promise<StatusChange> {
  const operation: Operation = {
    ...about(`POST /instances/{id}/${how.verb}`, `to ${how.verb} the instance ${id}`, id),
    repeatable: true,
    bills: true,
    doubt: how.doubt,
    settle: `See its state with gpucloud instances get ${id}; gpucloud instances ${how.verb} ${id} can be repeated.`,
    badState: how.badState,
    again: `gpucloud instances ${how.verb} ${id}; why it failed: gpucloud instances events ${id}`,
  };
  const request = { method: 'POST', path: `${pathOf(id)}/${how.verb}` };
  return settled(call, {
    operation,
    post: () => post(call, operation, request, statusChange),
    read: () => read(call, id),
    done: ({ status }) => (leadsTo(how.goal, status) ? { status } : undefined),
    tell: ({ status }) => statusWords(status),
  });
}

async function start(call: Call, id: string): Promise<StatusChange> {
  const operation: Operation = {
    ...about('POST /instances/{id}/start', `to start the instance ${id}`, id),
    bills: true,
    doubt: 'The machine may be running and billing.',
    settle: `See its state: gpucloud instances get ${id}`,
    badState: `Only a STOPPED instance can be started, with funds for an hour: gpucloud instances get ${id}`,
  };
  const request = { method: 'POST', path: `${pathOf(id)}/start` };
  const fresh = () => stateOf({ read: () => read(call, id) });

  let posted: Posted<StatusChange>;
  try {
    posted = await post(call, operation, request, statusChange);
  } catch (error) {
    const status = error instanceof CliError ? error.httpStatus : undefined;
    if (status !== 400 && status !== 409) throw error;
    // Both statuses stand for both reasons (API document: Errors), so the state decides.
    const state = await fresh();
    throw state === undefined ? error : notStarted(operation, status, state.state.status);
  }
  if (posted.sure) return posted.value;

  const state = await fresh();
  const status = posted.answer?.status;
  if (state === undefined) throw outcomeUnknown(operation, posted.why, status);
  const told = statusWords(state.state.status);
  if (status === 500) {
    throw new CliError(
      'refused',
      `${sentence(`The service could not start the instance ${id}: ${posted.why}`)} Its status is ${told}; the document says that the reserved funds are refunded.`,
      {
        httpStatus: status,
        retryable: true,
        mayBeBilling: state.state.status !== 'STOPPED',
        hint: `Again in a while: gpucloud instances start ${id}; its state: gpucloud instances get ${id}`,
        ...resourceOf(operation),
      },
    );
  }
  if (leadsTo('ACTIVE', state.state.status)) {
    const { paid_until } = state.state;
    return paid_until === undefined
      ? { status: state.state.status }
      : { status: state.state.status, paid_until };
  }
  throw outcomeUnknown(operation, `${posted.why}; its status is ${told}`, status);
}

function notStarted(operation: Operation, httpStatus: number, status: string): CliError {
  const details = { httpStatus, ...resourceOf(operation) };
  if (status !== 'STOPPED') {
    return new CliError(
      'wrongState',
      `The instance ${operation.resource} is ${statusWords(status)}; only a STOPPED one can be started.`,
      { ...details, hint: startHint(operation.resource ?? '', status) },
    );
  }
  return new CliError(
    'wrongState',
    `The instance ${operation.resource} stays STOPPED: there are not enough funds to reserve the next hour.`,
    {
      ...details,
      hint: 'See what the account has, top it up and start again: gpucloud billing balance',
    },
  );
}

/** What can be done with a machine that can't be started, by the status that was read. */
function startHint(id: string, status: string): string {
  switch (status) {
    case 'STOPPING':
      return `Wait for it: gpucloud instances wait ${id} --for stopped`;
    case 'TERMINATING':
    case 'TERMINATED':
      return `Order a new one like it: gpucloud instances reorder ${id} NEW_NAME`;
    case 'ERROR':
      return `See what happened: gpucloud instances events ${id}`;
    case 'ACTIVE':
      return `It runs already: gpucloud instances get ${id} tells how to connect`;
    default:
      return `It is on its way: gpucloud instances wait ${id}`;
  }
}
