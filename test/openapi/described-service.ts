import { type Answer, type Handler, no, ok, type RecordedRequest } from '../support/service.ts';
import type { Checker } from './description.ts';
import { INSTANCE_ID, type Samples, SSH_KEY_ID } from './samples.ts';

export interface DescribedService {
  readonly handler: Handler;
  /** Differences from the description, in requests and responses. */
  readonly complaints: string[];
  /** The requested operations, in order. */
  readonly seen: string[];
  /** The responses, which a test may change between requests. */
  readonly samples: Samples;
}

export interface DescribedOptions {
  /** Whether to check responses. A test may return a wrong response on purpose. */
  readonly checkAnswers?: boolean;
  /** The instance's status. */
  readonly status?: string;
}

/** Creates a service that responds with samples and checks all traffic against the description. */
export function describedService(
  checker: Checker,
  samples: Samples,
  { checkAnswers = true, status }: DescribedOptions = {},
): DescribedService {
  const complaints: string[] = [];
  const seen: string[] = [];
  const state = { status: status ?? samples.instance.status };

  return {
    complaints,
    seen,
    samples,
    handler(request) {
      const judged = checker.request(request);
      complaints.push(...judged.complaints);
      if (judged.operation === undefined || judged.complaints.length > 0) {
        return no(400, judged.complaints.join('\n'));
      }
      seen.push(judged.operation);
      const answer = answerOf(judged.operation, request, samples, state);
      if (checkAnswers) {
        complaints.push(...checker.answer(judged.operation, answer));
      }
      return answer;
    },
  };
}

/** ID of the instance that a reorder creates. */
export const REORDERED_ID = '3f0c5c1e-8a51-4e0b-9c39-1f6f6a2b7d11';

/** Returns the name in the request. */
function named({ body }: RecordedRequest): unknown {
  const { instance_name, new_name } = body as { instance_name?: unknown; new_name?: unknown };
  return instance_name ?? new_name;
}

/** The instance's status, which is the only state. */
interface State {
  status: unknown;
}

function answerOf(
  operation: string,
  request: RecordedRequest,
  samples: Samples,
  state: State,
): Answer {
  const path = request.path.split('?', 1)[0] ?? '';
  if (operation.includes('Instance') && path !== '/instances' && !path.includes(INSTANCE_ID)) {
    return no(404, 'Instance not found');
  }
  const { drives, sshKeys, instance } = samples;
  switch (operation) {
    case 'createApiKey':
      return ok(samples.createdApiKey, 201);
    case 'listApiKeys':
      return ok(samples.apiKeys);
    case 'createInstance':
      return ok({ ...instance, status: 'PROVISIONING', name: named(request) }, 201);
    case 'reorderInstance': {
      const { storage_drive: _omitted, ...rest } = instance;
      const made = { id: REORDERED_ID, status: 'PROVISIONING', name: named(request) };
      return ok({ ...rest, ...made }, 201);
    }
    case 'getInstance':
      return ok({ ...instance, ...(state.status === undefined ? {} : state) });
    case 'startInstance':
      if (state.status !== 'STOPPED') return no(400, `Instance is ${state.status}`);
      state.status = 'ACTIVE';
      return ok({ status: 'STARTING', paid_until: instance.paid_until });
    case 'stopInstance':
      if (state.status !== 'ACTIVE') return no(400, `Instance is ${state.status}`);
      state.status = 'STOPPED';
      return ok({ status: 'STOPPING' });
    case 'terminateInstance':
      if (state.status === 'TERMINATED') return no(400, 'Instance is TERMINATED');
      state.status = 'TERMINATED';
      return ok({ status: 'TERMINATING' });
    case 'listInstanceEvents':
      return page(samples.events, request, 10);
    case 'listTemplates':
      return ok(samples.templates);
    case 'createDrive':
      return ok(drives[0], 201);
    case 'listDrives':
      return ok(drives);
    case 'getDrive':
    case 'updateDrive':
    case 'resumeDrive':
      return ok(drives[0]);
    case 'addSshKey':
      return ok(sshKeys[0], 201);
    case 'listSshKeys':
      return ok(sshKeys);
    case 'deleteSshKey':
      return path.endsWith(SSH_KEY_ID)
        ? { status: 200, body: { status: 'success', code: 200 } }
        : { status: 404, body: { statusCode: 404, code: 'NOT_FOUND', message: 'No such key' } };
    case 'getMe':
    case 'updatePassword':
      return ok(samples.user);
    case 'updateMe':
      return ok(samples.updatedUser);
    case 'activatePromo':
      return ok(samples.bonus);
    case 'listTransactions':
      return page(samples.transactions, request, 20);
    default:
      throw new Error(`nothing to answer ${operation} with`);
  }
}

function page(rows: readonly unknown[], request: RecordedRequest, usual: number): Answer {
  const query = new URL(request.path, 'http://loopback').searchParams;
  return ok(rows, 200, {
    total: rows.length,
    page: Number(query.get('page') ?? 1),
    limit: Number(query.get('limit') ?? usual),
    total_pages: 1,
  });
}
