import { CliError } from '../errors.ts';
import { leadsTo } from '../rules/statuses.ts';
import type { Call, Run } from './calls/call.ts';
import { factsOf, outcomeUnknown, sentence } from './calls/errors.ts';
import type { Operation } from './calls/operation.ts';
import { getData, getPage, post, postOnce } from './calls/perform.ts';
import { bodyOf, queryOf, segment } from './calls/request.ts';
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
            needsState: true,
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
        }),
      );
    },
    terminate(id, options) {
      return run(options, (call) =>
        change(call, id, {
          verb: 'terminate',
          goal: 'TERMINATED',
          doubt: 'The machine may still exist and be billing.',
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
    missing: `There is no instance ${id}`,
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
  how: { verb: 'stop' | 'terminate'; goal: string; doubt: string },
): Promise<StatusChange> {
  const operation: Operation = {
    ...about(`POST /instances/{id}/${how.verb}`, `to ${how.verb} the instance ${id}`, id),
    repeatable: true,
    bills: true,
    doubt: how.doubt,
    needsState: true,
  };
  const request = { method: 'POST', path: `${pathOf(id)}/${how.verb}` };
  return settled(call, {
    operation,
    post: () => post(call, operation, request, statusChange),
    read: () => read(call, id),
    done: ({ status }) => (leadsTo(how.goal, status) ? { status } : undefined),
    status: ({ status }) => status,
  });
}

/** After a doubt the state is read; what it shows is the outcome, and nothing is sent again. */
async function start(call: Call, id: string): Promise<StatusChange> {
  const operation: Operation = {
    ...about('POST /instances/{id}/start', `to start the instance ${id}`, id),
    bills: true,
    doubt: 'The machine may be running and billing.',
    needsState: true,
  };
  const request = { method: 'POST', path: `${pathOf(id)}/start` };
  const posted = await post(call, operation, request, statusChange);
  if (posted.sure) return posted.value;

  const found = (await stateOf(() => read(call, id)))?.state;
  const httpStatus = posted.answer?.status;
  if (found === undefined) throw outcomeUnknown(operation, posted.why, httpStatus);
  const { status, paid_until } = found;
  if (httpStatus === 500) {
    throw new CliError(
      'refused',
      `${sentence(`The service could not start the instance ${id}: ${posted.why}`)} Its status is ${statusWords(status)}; the document says that the reserved funds are refunded.`,
      {
        httpStatus,
        retryable: true,
        mayBeBilling: status !== 'STOPPED',
        ...factsOf(operation),
      },
    );
  }
  if (status === 'STARTING' || status === 'ACTIVE') {
    return paid_until === undefined ? { status } : { status, paid_until };
  }
  throw outcomeUnknown(
    operation,
    `${posted.why}; its status is ${statusWords(status)}`,
    httpStatus,
  );
}
