import type { CliError, FailedRequest } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';
import { isUuid } from '../rules/names.ts';

/**
 * Returns an error's hint, or one for the request that failed. This module chooses hints when the
 * error is printed, since the API client knows no command lines.
 */
export function hintOf(error: CliError): string | undefined {
  if (error.hint !== undefined) return error.hint;
  const { failure, httpStatus, request, retryAfterMs } = error;
  if (failure === 'rateLimited') return afterWaiting(retryAfterMs);
  if (request === undefined) return undefined;
  switch (failure) {
    case 'outcomeUnknown':
      return (
        stepsOf(request).doubt ?? 'Check whether the request took effect before you send it again.'
      );
    case 'unreachable':
      return request.obstacle === 'deadline' ? `Allow more time with --timeout. ${REACH}` : REACH;
    case 'notUnderstood':
      if (request.obstacle === 'web page') return PAGE;
      return isRedirect(httpStatus)
        ? `Check the base URL: ${gpucloud('profiles', 'get')}`
        : 'Check the base URL, and run the command again with --debug to see the response.';
    case 'authentication':
      return request.obstacle === 'web page' ? PAGE : 'Sign in with a working key: gpucloud login';
    default:
      return request.obstacle === 'web page' ? PAGE : afterRefusal(error, request);
  }
}

/** Replaces the ID in a hint with the typed name. */
export function calledBy(name: string, error: CliError): CliError {
  const { request } = error;
  if (request?.about === undefined) return error;
  return error.with(error.message, { request: { ...request, about: name } });
}

const REACH = `Run ${gpucloud('doctor')} to check the network, base URL and proxy settings.`;
const PAGE = `The service sends JSON, not web pages. ${REACH}`;

function afterWaiting(retryAfterMs: number | undefined): string {
  return retryAfterMs === undefined
    ? 'Wait a moment, then run the command again.'
    : `Run the command again in ${Math.ceil(retryAfterMs / 1000)} s.`;
}

function afterRefusal(
  { failure, httpStatus }: CliError,
  request: FailedRequest,
): string | undefined {
  const { missing, state, again, refused } = stepsOf(request);
  if (httpStatus === 402) return `Check your balance: ${gpucloud('billing', 'balance')}`;
  if (failure === 'notFound') return missing;
  if (failure === 'wrongState') return state;
  if (failure !== 'refused') return undefined;
  const mayWorkLater = httpStatus !== undefined && (httpStatus >= 500 || httpStatus === 408);
  if (!mayWorkLater) return refused;
  return again === undefined ? 'Try again later.' : `Try again later: ${again}`;
}

/** Hints for each kind of failure of one operation. */
interface Steps {
  /** Hint for an unknown outcome: how to check it. */
  readonly doubt?: string;
  readonly missing?: string;
  /** Hint for a resource in the wrong state. */
  readonly state?: string;
  /** Hint if the service failed: how to try again. */
  readonly again?: string;
  /** Hint if the service refused for another reason. */
  readonly refused?: string;
}

/**
 * Returns the command that recovers a request. Omits a name that starts like a flag, since nobody
 * could type it, and one that looks like an ID.
 */
export function recoverLine(name: string): string {
  const words = name.startsWith('-') || isUuid(name) ? [] : [name];
  return gpucloud('instances', 'recover', ...words);
}

function afterUnknown(recover: string): string {
  return `Recover the request before you use the name again on any computer: ${recover}; list known instances: ${gpucloud('instances', 'list')}`;
}

const STEPS: Readonly<Record<string, (about: string) => Steps>> = {
  'POST /instances': (name) => ({ doubt: afterUnknown(recoverLine(name)) }),
  'POST /instances/{id}/reorder': (id) => ({
    doubt: afterUnknown(gpucloud('instances', 'recover')),
    state: `Only a TERMINATED instance can be reordered. Check the status: ${gpucloud('instances', 'get', id)}`,
  }),
  'POST /instances/{id}/start': (id) => ({
    doubt: `Check the status: ${gpucloud('instances', 'get', id)}`,
    state: `Only a STOPPED instance can be started, and the balance must cover one hour. Check the status: ${gpucloud('instances', 'get', id)}`,
    again: `${gpucloud('instances', 'start', id)}; see its status: ${gpucloud('instances', 'get', id)}`,
  }),
  'POST /instances/{id}/stop': (id) => ({
    ...repeated('stop', id),
    state: `Only an ACTIVE instance can be stopped. Check the status: ${gpucloud('instances', 'get', id)}`,
  }),
  'POST /instances/{id}/terminate': (id) => ({
    ...repeated('terminate', id),
    state: `Check whether the instance is already terminated: ${gpucloud('instances', 'get', id)}`,
  }),
  'POST /storage/drives': () => ({
    doubt: `Check whether the drive exists: ${gpucloud('drives', 'list')}`,
  }),
  'PATCH /storage/drives/{id}': (id) => ({
    doubt: `Check the drive with ${gpucloud('drives', 'get', id)}; you can repeat the update.`,
  }),
  'POST /storage/drives/{id}/resume': (id) => ({
    doubt: `Check the status with ${gpucloud('drives', 'get', id)}; you can repeat ${gpucloud('drives', 'resume', id)}.`,
    state: `Only a SUSPENDED drive can be resumed. Check the status: ${gpucloud('drives', 'get', id)}`,
  }),
  'POST /ssh-keys': () => ({
    doubt: `Check whether the key exists: ${gpucloud('ssh-keys', 'list')}`,
  }),
  'DELETE /ssh-keys/{id}': () => ({
    doubt: `Check whether the key exists: ${gpucloud('ssh-keys', 'list')}`,
  }),
  'POST /api-keys': () => ({
    doubt: `Check whether the key exists: ${gpucloud('api-keys', 'list')}`,
  }),
  'PATCH /users/me': () => ({
    doubt: `Check the name with ${gpucloud('me', 'get')}; you can repeat the update.`,
  }),
  'POST /users/me/update-password': () => ({
    doubt: `Run ${gpucloud('me', 'set-password')} again. The service rejects the old password if the change took effect.`,
  }),
  'POST /billing/promo/activate': () => ({
    doubt: `Check whether the bonus was credited: ${gpucloud('billing', 'transactions')}`,
    missing: `Check the spelling and case of the code: ${gpucloud('billing', 'promo', 'CODE')}`,
    refused: `The code may be expired or used. List your bonuses: ${gpucloud('billing', 'transactions', '--type', 'bonus')}`,
  }),
};

/** Hints for a missing resource, by the start of its path. */
const MISSING: readonly (readonly [RegExp, string])[] = [
  [/ \/instances\/\{id\}/, `List known instances: ${gpucloud('instances', 'list', '--all')}`],
  [/ \/storage\/drives\/\{id\}/, `List your drives: ${gpucloud('drives', 'list')}`],
  [/ \/ssh-keys\/\{id\}/, `List your SSH keys: ${gpucloud('ssh-keys', 'list')}`],
];

/** Matches the lists and the account, which every service has. */
const ALWAYS_THERE =
  /^(?:GET|POST|PATCH) \/(?:users\/me(?:\/update-password)?|storage\/drives|ssh-keys|api-keys|templates|billing\/transactions)$/;

const WRONG_BASE_URL = `The base URL may be wrong, such as a missing /v1: ${gpucloud('profiles', 'get')}`;

/** Hint for a 404 from a service that has never shown an account. */
export const NEVER_USED = `List known instances: ${gpucloud('instances', 'list', '--all')}; or the base URL is wrong, such as a missing /v1: ${gpucloud('profiles', 'get')}`;

function stepsOf({ operation, about = '' }: FailedRequest): Steps {
  const missing = ALWAYS_THERE.test(operation)
    ? WRONG_BASE_URL
    : MISSING.find(([path]) => path.test(operation))?.[1];
  return { ...(missing === undefined ? {} : { missing }), ...STEPS[operation]?.(about) };
}

function repeated(verb: 'stop' | 'terminate', id: string): Steps {
  return {
    doubt: `Check the status with ${gpucloud('instances', 'get', id)}; you can repeat ${gpucloud('instances', verb, id)}.`,
    again: `${gpucloud('instances', verb, id)}; see why it failed: ${gpucloud('instances', 'events', id)}`,
  };
}

function isRedirect(httpStatus: number | undefined): boolean {
  return httpStatus !== undefined && httpStatus >= 300 && httpStatus < 400;
}
