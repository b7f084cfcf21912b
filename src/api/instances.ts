import { CliError } from '../errors.ts';
import { isSameId } from '../rules/names.ts';
import { leadsTo } from '../rules/statuses.ts';
import type { Call, Run } from './calls/call.ts';
import { factsOf, outcomeUnknown, sentence } from './calls/errors.ts';
import { bodyOf, type Operation, queryOf, segment } from './calls/operation.ts';
import { getData, getPage, type Posted, post, postOnce } from './calls/perform.ts';
import { settled, stateOf, statusText } from './calls/settle.ts';
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

const CREATED_DOUBT = 'An instance may exist and be billing.';

export function instancesApi(run: Run) {
  return {
    /**
     * Rents an instance (API document: Endpoints, POST /instances). Never sent again once it may have
     * left; an unknown outcome is CliError `outcomeUnknown` with `mayBeBilling`.
     */
    create: (body: CreateInstanceBody, options?: CallOptions): Promise<Instance> =>
      run(options, (call) =>
        postOnce(
          call,
          {
            heading: 'POST /instances',
            doing: `to create the instance ${body.instance_name}`,
            body: bodyOf(createInstanceBody, body),
            resource: body.instance_name,
            bills: true,
            doubt: CREATED_DOUBT,
          },
          instance,
        ),
      ),

    /**
     * Rents an instance like a terminated one, with its offer, image and SSH keys (API document:
     * Endpoints, POST /instances/{id}/reorder). Never sent again, as with `create`.
     */
    reorder: (id: string, body: ReorderInstanceBody, options?: CallOptions): Promise<Instance> =>
      run(options, (call) =>
        postOnce(
          call,
          {
            heading: 'POST /instances/{id}/reorder',
            doing: `to reorder the instance ${id} as ${body.new_name}`,
            ...about(id),
            body: bodyOf(reorderInstanceBody, body),
            bills: true,
            doubt: CREATED_DOUBT,
            needsState: true,
          },
          instance,
        ),
      ),

    /** Reads one instance (API document: Endpoints, GET /instances/{id}). */
    get: (id: string, options?: CallOptions): Promise<Instance> =>
      run(options, (call) => get(call, id)),

    /**
     * Starts a STOPPED instance (API document: Endpoints, POST /instances/{id}/start). After an unknown
     * outcome it reads the state: STARTING and ACTIVE are success, and nothing is sent again.
     */
    start: (id: string, options?: CallOptions): Promise<StatusChange> =>
      run(options, (call) => start(call, id)),

    /**
     * Stops an ACTIVE instance (API document: Endpoints, POST /instances/{id}/stop). After an unknown
     * outcome it reads the state: STOPPING and STOPPED are success, otherwise it sends once more.
     */
    stop: (id: string, options?: CallOptions): Promise<StatusChange> =>
      run(options, (call) =>
        change(call, id, {
          heading: 'POST /instances/{id}/stop',
          doing: `to stop the instance ${id}`,
          doubt: 'The instance may still be running and billing.',
          goal: 'STOPPED',
        }),
      ),

    /**
     * Deletes an instance for good (API document: Endpoints, POST /instances/{id}/terminate). After an
     * unknown outcome it reads the state: TERMINATING and TERMINATED are success, otherwise it sends once
     * more.
     */
    terminate: (id: string, options?: CallOptions): Promise<StatusChange> =>
      run(options, (call) =>
        change(call, id, {
          heading: 'POST /instances/{id}/terminate',
          doing: `to terminate the instance ${id}`,
          doubt: 'The instance may still exist and be billing.',
          goal: 'TERMINATED',
        }),
      ),

    /** Reads one page of the log, newest first (API document: Endpoints, GET /instances/{id}/events). */
    events: (
      id: string,
      query: EventsQuery = {},
      options?: CallOptions,
    ): Promise<Page<InstanceEvent>> =>
      run(options, (call) =>
        getPage(
          call,
          {
            heading: 'GET /instances/{id}/events',
            doing: `to list the events of the instance ${id}`,
            ...about(id),
            query: queryOf(eventsQuery, query),
          },
          instanceEvents,
          { page: query.page ?? 1, limit: query.limit ?? 10 },
        ),
      ),
  };
}

function about(id: string): Pick<Operation, 'id' | 'resource' | 'missing'> {
  return { id: segment(id, 'an instance'), resource: id, missing: `Instance ${id} not found` };
}

/** A response about another instance shows nothing about this one, so the outcome is unknown. */
async function postTo(call: Call, operation: Operation, id: string): Promise<Posted<StatusChange>> {
  const posted = await post(call, operation, statusChange);
  if (!posted.sure) return posted;
  const { id: other } = posted.value;
  if (typeof other !== 'string' || isSameId(other, id)) return posted;
  return { sure: false, why: `the response is about instance ${statusText(other)}` };
}

/** Refuses a response about another instance, which would hide this one's state. */
async function get(call: Call, id: string): Promise<Instance> {
  const found = await getData(
    call,
    { heading: 'GET /instances/{id}', doing: `to show the instance ${id}`, ...about(id) },
    instance,
  );
  if (!isSameId(found.id, id)) {
    throw new CliError(
      'notUnderstood',
      `The service returned instance ${found.id} instead of ${id}.`,
      { resource: id },
    );
  }
  return found;
}

function change(
  call: Call,
  id: string,
  { goal, ...how }: Pick<Operation, 'heading' | 'doing' | 'doubt'> & { goal: string },
): Promise<StatusChange> {
  const operation = { ...how, ...about(id), repeatable: true, bills: true, needsState: true };
  return settled(call, {
    operation,
    post: () => postTo(call, operation, id),
    read: () => get(call, id),
    done: ({ status }) => (leadsTo(goal, status) ? { status } : undefined),
    status: ({ status }) => status,
  });
}

async function start(call: Call, id: string): Promise<StatusChange> {
  const operation: Operation = {
    heading: 'POST /instances/{id}/start',
    doing: `to start the instance ${id}`,
    ...about(id),
    bills: true,
    doubt: 'The instance may be running and billing.',
    needsState: true,
  };
  const posted = await postTo(call, operation, id);
  if (posted.sure) return posted.value;

  const found = (await stateOf(() => get(call, id)))?.state;
  const httpStatus = posted.response?.status;
  if (found === undefined) throw outcomeUnknown(operation, posted.why, httpStatus);
  const { status, paid_until } = found;
  if (httpStatus === 500) {
    throw new CliError(
      'refused',
      `${sentence(`The service could not start the instance ${id}: ${posted.why}`)} Its status is ${statusText(status)}; by the API document, the reserved funds are refunded.`,
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
  throw outcomeUnknown(operation, `${posted.why}; its status is ${statusText(status)}`, httpStatus);
}
