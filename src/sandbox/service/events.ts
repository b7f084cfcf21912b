import { randomUUID } from 'node:crypto';
import type { Instance, InstanceEvent, InstanceStatus } from '../store/state.ts';
import { iso } from '../time.ts';
import { type Page, pageOf } from './pages.ts';

type Payload = InstanceEvent['payload'];

/** Adds a line to an instance's log (API document: Events). */
export function record(
  instance: Instance,
  type: InstanceEvent['type'],
  message: string,
  at: number,
  payload: Payload = null,
): void {
  instance.events.push({ id: randomUUID(), type, message, payload, at });
}

/**
 * Changes the status and logs the change. The message names the new status (API document: Events).
 */
export function moveTo(
  instance: Instance,
  status: InstanceStatus,
  at: number,
  payload: Record<string, unknown> = {},
): void {
  const from = instance.status;
  instance.status = status;
  instance.updatedAt = at;
  record(instance, 'STATUS_CHANGE', `Status changed from ${from} to ${status}`, at, {
    from,
    to: status,
    ...payload,
  });
}

/** Returns a page of an instance's events, newest first (GET /instances/{id}/events). */
export function eventsPage(
  instance: Instance,
  page: number,
  limit: number,
): Page<Record<string, unknown>> {
  return pageOf([...instance.events].reverse(), page, limit, (event) => ({
    id: event.id,
    instance_id: instance.id,
    type: event.type,
    message: event.message,
    payload: event.payload,
    created_at: iso(event.at),
  }));
}
