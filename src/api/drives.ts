import type { Call, Run } from './calls/call.ts';
import type { Operation } from './calls/operation.ts';
import { getData, post, postOnce } from './calls/perform.ts';
import { bodyOf, segment } from './calls/request.ts';
import { settled } from './calls/settle.ts';
import type { CallOptions } from './contract.ts';
import { type Drive, type DriveBody, drive, driveBody, drives } from './schemas/drive.ts';

export interface DrivesApi {
  /** All drives, in no documented order (API document: Endpoints, GET /storage/drives). */
  list(options?: CallOptions): Promise<Drive[]>;
  /** One drive (API document: Endpoints, GET /storage/drives/{id}). */
  get(id: string, options?: CallOptions): Promise<Drive>;
  /**
   * Creates a drive, which bills by the hour (API document: Endpoints, POST /storage/drives).
   * `size_gb` is in GB. Never sent again once it may have left; a doubt is CliError
   * `outcomeUnknown` with `mayBeBilling`.
   */
  create(body: DriveBody, options?: CallOptions): Promise<Drive>;
  /** Renames or resizes; both fields are needed (API document: PATCH /storage/drives/{id}). */
  update(id: string, body: DriveBody, options?: CallOptions): Promise<Drive>;
  /**
   * Thaws a SUSPENDED drive (API document: Endpoints, POST /storage/drives/{id}/resume). After a
   * doubt the state is read; any status but SUSPENDED is success, else it is sent once more.
   */
  resume(id: string, options?: CallOptions): Promise<Drive>;
}

export function drivesApi(run: Run): DrivesApi {
  return {
    list(options) {
      return run(options, (call) =>
        getData(
          call,
          { heading: 'GET /storage/drives', doing: 'to list the drives', changes: false },
          { method: 'GET', path: '/storage/drives' },
          drives,
        ),
      );
    },
    get(id, options) {
      return run(options, (call) => read(call, id));
    },
    create(body, options) {
      return run(options, (call) =>
        postOnce(
          call,
          {
            heading: 'POST /storage/drives',
            doing: 'to create the drive',
            changes: true,
            resource: body.name,
            bills: true,
            doubt: 'A drive may exist and be billing.',
          },
          { method: 'POST', path: '/storage/drives', body: bodyOf(driveBody, body) },
          drive,
        ),
      );
    },
    update(id, body, options) {
      return run(options, (call) =>
        getData(
          call,
          {
            ...about('PATCH /storage/drives/{id}', `to update the drive ${id}`, id),
            repeatable: true,
            doubt: 'Its name, size and price may have changed.',
          },
          { method: 'PATCH', path: pathOf(id), body: bodyOf(driveBody, body) },
          drive,
        ),
      );
    },
    resume(id, options) {
      return run(options, (call) => resume(call, id));
    },
  };
}

function pathOf(id: string): string {
  return `/storage/drives/${segment(id, 'a drive')}`;
}

function about(heading: string, doing: string, id: string): Operation {
  return {
    heading,
    doing,
    changes: true,
    resource: id,
    missing: `There is no drive ${id}`,
  };
}

function read(call: Call, id: string): Promise<Drive> {
  return getData(
    call,
    { ...about('GET /storage/drives/{id}', `to show the drive ${id}`, id), changes: false },
    { method: 'GET', path: pathOf(id) },
    drive,
  );
}

function resume(call: Call, id: string): Promise<Drive> {
  const operation: Operation = {
    ...about('POST /storage/drives/{id}/resume', `to resume the drive ${id}`, id),
    repeatable: true,
    bills: true,
    doubt: 'The drive may be in use and billing again.',
    needsState: true,
  };
  // "Body: empty object", unlike start, stop and terminate of an instance.
  const request = { method: 'POST', path: `${pathOf(id)}/resume`, body: '{}' };
  return settled(call, {
    operation,
    post: () => post(call, operation, request, drive),
    read: () => read(call, id),
    // A drive without a status says nothing about whether it is frozen still.
    done: (state) =>
      typeof state.status === 'string' && state.status !== 'SUSPENDED' ? state : undefined,
    status: ({ status }) => status,
  });
}
