import { sentence } from '../api/errors.ts';
import type { Api, CallOptions, Instance, RawResponse } from '../api/index.ts';
import { sendOnce } from '../cli/creation.ts';
import { recoverLine } from '../cli/hints.ts';
import { observationOf } from '../context/observe.ts';
import { DEFAULT_TIMEOUT_MS } from '../context/service.ts';
import type { Context } from '../context.ts';
import { CliError, type Failure, isInterrupt } from '../errors.ts';
import { type OpenedRequest, type RentalRequest, refusedId, responseId } from '../journal/index.ts';
import { gpucloud } from '../output/shell-line.ts';
import { typedName } from '../rules/names.ts';
import { openAlone } from './pending.ts';
import { nothingCreated, runPreflight } from './preflight.ts';
import { explainRental } from './refusal.ts';

/**
 * Sends the one request that rents. In this order:
 *
 * 1. The request is on disk, exclusive under its name, before a byte is sent.
 * 2. The ID is on disk as soon as the raw response shows it, before the rest is parsed.
 * 3. Without an ID, the outcome is on disk: refused, not sent, or unknown.
 *
 * Throws the request's error. If the service created something, the error contains its ID and may
 * be the only record of it.
 */
export async function rent(
  asked: Omit<RentalRequest, 'timeout_ms'>,
  context: Context,
  send: (api: Api, options: CallOptions) => Promise<Instance>,
): Promise<Instance> {
  const request = { ...asked, timeout_ms: context.flags.timeout ?? DEFAULT_TIMEOUT_MS };
  const { name } = request;
  const { api, opened } = await runPreflight(context, nothingCreated, async () => ({
    api: await context.api(),
    opened: await openAlone(request, context),
  }));
  const seen: Seen = {};
  let sent = false;
  try {
    const made = await sendOnce({ what: name, bills: true }, context, (options) =>
      send(api, {
        ...options,
        onSending() {
          options.onSending?.();
          sent = true;
        },
        onResponse: (answer) => readAnswer(answer, seen, opened, request),
      }),
    );
    if (seen.id === undefined && seen.doubt === undefined) {
      await take(made.id, made.name ?? undefined, seen, opened, request);
    }
    if (seen.doubt !== undefined) throw seen.doubt;
    await keepObserved(made, context);
    return made;
  } catch (error) {
    throw seen.id === undefined
      ? withCandidate(
          await notMade(error, { sent, seen, opened, request }, context),
          seen.candidate,
        )
      : madeAnyway(error, seen.id, request);
  }
}

/** Facts in the response so far. */
interface Seen {
  /** ID of the new instance. Stored on disk, unless the write failed. */
  id?: string;
  /** Why the ID in the response can't be trusted. */
  doubt?: CliError;
  /**
   * A possible ID of the new instance: from an unsuccessful response, or not yet compared with
   * known IDs.
   */
  candidate?: string;
  /** The ID from an unsuccessful response, if no record rules it out. */
  shown?: string;
}

async function readAnswer(
  { status, text }: RawResponse,
  seen: Seen,
  opened: OpenedRequest,
  request: RentalRequest,
): Promise<void> {
  if (seen.id !== undefined) return;
  if (status < 200 || status >= 300) return keepCandidate(refusedId(text), seen, opened, request);
  const found = responseId(text);
  if (found !== undefined) await take(found.id, found.name, seen, opened, request);
}

/**
 * Drops IDs that can't be the new instance's: IDs in the request, such as a refused offer, and
 * known IDs, such as a terminated instance's.
 */
async function keepCandidate(
  id: string | undefined,
  seen: Seen,
  opened: OpenedRequest,
  { body, source_id }: RentalRequest,
): Promise<void> {
  if (id === undefined || JSON.stringify([body, source_id]).toLowerCase().includes(id)) return;
  if ((await opened.doubt(id, undefined)) !== undefined) return;
  seen.candidate = id;
  seen.shown = id;
  await keepDoubted(id, opened);
}

/** Saves the ID from a response in doubt. If the write fails, the request's error contains the ID. */
async function keepDoubted(id: string, opened: OpenedRequest): Promise<void> {
  try {
    await opened.keepDoubted(id);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
  }
}

async function take(
  id: string,
  name: string | undefined,
  seen: Seen,
  opened: OpenedRequest,
  request: RentalRequest,
): Promise<void> {
  // If the journal is unreadable, the request's error contains the ID.
  seen.candidate = id;
  const why = await opened.doubt(id, name);
  delete seen.candidate;
  if (why === undefined) {
    seen.id = id;
    await opened.made(id);
    return;
  }
  seen.doubt = unknownOutcome(
    `The response for ${request.name} has the ID ${id}, which ${why}. The outcome is unknown: an instance may exist and be billing.`,
    request,
  );
  await keepDoubted(id, opened);
}

/** Saves the complete response. The journal already has the ID. */
async function keepObserved(made: Instance, context: Context): Promise<void> {
  try {
    await (await context.journal()).observe(observationOf(made));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.err.warn('local_storage', error.message);
  }
}

function withCandidate(error: unknown, id: string | undefined): unknown {
  if (id === undefined || !(error instanceof CliError)) return error;
  const isRefused = error.failure !== 'outcomeUnknown';
  return error.with(
    `${sentence(error.message)} The response names instance ${id}. It may still be billing.`,
    {
      ...(isRefused ? { resource: id, hint: `see it: ${gpucloud('instances', 'get', id)}` } : {}),
      mayBeBilling: true,
    },
  );
}

interface Attempt {
  readonly sent: boolean;
  readonly seen: Seen;
  readonly opened: OpenedRequest;
  readonly request: RentalRequest;
}

/** Saves the outcome of a request without an ID, and completes its error. */
async function notMade(
  error: unknown,
  { sent, seen, opened, request }: Attempt,
  context: Context,
): Promise<unknown> {
  const isUnknown = !isCertain(error, sent);
  try {
    await (isUnknown ? opened.unknown(seen.shown) : opened.notMade());
  } catch (fault) {
    if (!(fault instanceof CliError)) throw fault;
    // Leaves the request on disk as unknown, since that is safe.
    if (!isUnknown) {
      context.err.warn(
        'local_storage',
        `Nothing was created, but gpucloud will list it as UNKNOWN: ${fault.message}`,
      );
    }
  }
  if (!isUnknown) {
    return error instanceof CliError ? explainRental(error, request, context) : error;
  }
  if (!(error instanceof CliError)) {
    return unknownOutcome(
      `Unexpected failure after the request for ${request.name} was sent; its outcome is unknown: ${messageOf(error)}`,
      request,
    );
  }
  return error.with(error.message, {
    // A reorder's own error names the terminated instance instead.
    resource: request.name,
    mayBeBilling: true,
  });
}

const NEVER_LEFT: readonly Failure[] = ['usage', 'unreachable'];
/** Failures in which the service refused the request. */
const REFUSED: readonly Failure[] = [
  'refused',
  'notFound',
  'authentication',
  'wrongState',
  'rateLimited',
];

/** Whether certainly nothing was created. */
function isCertain(error: unknown, sent: boolean): boolean {
  if (!(error instanceof CliError)) return !sent;
  const { failure, httpStatus = 0 } = error;
  if (!sent) return NEVER_LEFT.includes(failure) || isInterrupt(error);
  const isNo = httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408;
  return isNo && REFUSED.includes(failure);
}

/**
 * Builds the error for an instance that exists and bills, although its ID could not be saved or its
 * response could not be used.
 */
function madeAnyway(error: unknown, id: string, { name }: RentalRequest): CliError {
  if (error instanceof CliError && error.failure === 'storage') {
    return error.with(`Created ${name} (${id}), but could not save it: ${error.message}`, {
      hint: `note the ID; terminate it with "${gpucloud('instances', 'terminate', id)}", or keep it in the list with "${gpucloud('instances', 'track', id)}"`,
      resource: id,
      mayBeBilling: true,
    });
  }
  const { failure, httpStatus }: Pick<CliError, 'failure' | 'httpStatus'> =
    error instanceof CliError ? error : { failure: 'notUnderstood', httpStatus: undefined };
  // Both name and ID are on disk.
  const typed = typedName(name, id);
  const status = httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`;
  const why = error instanceof CliError ? status : `: ${messageOf(error)}`;
  return new CliError(
    failure === 'outcomeUnknown' ? 'notUnderstood' : failure,
    `Created ${name} (${id}). It is billing, but gpucloud could not use the rest of the response${why}.`,
    {
      hint: `see it with "${gpucloud('instances', 'get', typed)}", terminate it with "${gpucloud('instances', 'terminate', typed)}"`,
      resource: id,
      mayBeBilling: true,
      cause: error,
      httpStatus,
    },
  );
}

function unknownOutcome(message: string, request: RentalRequest): CliError {
  return new CliError('outcomeUnknown', message, {
    hint: settleHint(request),
    resource: request.name,
    mayBeBilling: true,
  });
}

function settleHint({ name }: RentalRequest): string {
  return `list the options: ${recoverLine(name)}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
