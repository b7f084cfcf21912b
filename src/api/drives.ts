import type { Call, Run } from './calls/call.ts';
import { bodyOf, type Operation, segment } from './calls/operation.ts';
import { getData, post, postOnce } from './calls/perform.ts';
import { settled } from './calls/settle.ts';
import type { CallOptions } from './contract.ts';
import { type Drive, type DriveBody, drive, driveBody, drives } from './schemas/drive.ts';

export function drivesApi(run: Run) {
  return {
    /** Lists all drives, in no documented order (API document: Endpoints, GET /storage/drives). */
    list: (options?: CallOptions): Promise<Drive[]> =>
      run(options, (call) =>
        getData(call, { heading: 'GET /storage/drives', doing: 'to list the drives' }, drives),
      ),

    /** Reads one drive (API document: Endpoints, GET /storage/drives/{id}). */
    get: (id: string, options?: CallOptions): Promise<Drive> =>
      run(options, (call) => get(call, id)),

    /**
     * Creates a drive, which bills by the hour (API document: Endpoints, POST /storage/drives). `size_gb`
     * is in GB. Never sent again once it may have left; an unknown outcome is CliError `outcomeUnknown`
     * with `mayBeBilling`.
     */
    create: (body: DriveBody, options?: CallOptions): Promise<Drive> =>
      run(options, (call) =>
        postOnce(
          call,
          {
            heading: 'POST /storage/drives',
            doing: 'to create the drive',
            body: bodyOf(driveBody, body),
            resource: body.name,
            bills: true,
            doubt: 'A drive may exist and be billing.',
          },
          drive,
        ),
      ),

    /** Renames or resizes; both fields are needed (API document: PATCH /storage/drives/{id}). */
    update: (id: string, body: DriveBody, options?: CallOptions): Promise<Drive> =>
      run(options, (call) =>
        getData(
          call,
          {
            heading: 'PATCH /storage/drives/{id}',
            doing: `to update the drive ${id}`,
            ...about(id),
            body: bodyOf(driveBody, body),
            doubt: 'Its name, size and price may have changed.',
          },
          drive,
        ),
      ),

    /**
     * Thaws a SUSPENDED drive (API document: Endpoints, POST /storage/drives/{id}/resume). After an
     * unknown outcome it reads the state: any status except SUSPENDED is success, otherwise it sends once
     * more.
     */
    resume: (id: string, options?: CallOptions): Promise<Drive> =>
      run(options, (call) => resume(call, id)),
  };
}

function about(id: string): Pick<Operation, 'id' | 'resource' | 'missing'> {
  return { id: segment(id, 'a drive'), resource: id, missing: `Drive ${id} not found` };
}

function get(call: Call, id: string): Promise<Drive> {
  return getData(
    call,
    { heading: 'GET /storage/drives/{id}', doing: `to show the drive ${id}`, ...about(id) },
    drive,
  );
}

function resume(call: Call, id: string): Promise<Drive> {
  const operation: Operation = {
    heading: 'POST /storage/drives/{id}/resume',
    doing: `to resume the drive ${id}`,
    ...about(id),
    // "Body: empty object", unlike start, stop and terminate of an instance.
    body: '{}',
    repeatable: true,
    bills: true,
    doubt: 'The drive may be in use and billing again.',
    needsState: true,
  };
  return settled(call, {
    operation,
    post: () => post(call, operation, drive),
    read: () => get(call, id),
    // A drive without a status may still be suspended.
    done: (state) =>
      typeof state.status === 'string' && state.status !== 'SUSPENDED' ? state : undefined,
    status: ({ status }) => status,
  });
}
