import { isSureRefusal, sentence } from '../../api/errors.ts';
import type { Api, CallOptions, Instance, RawResponse } from '../../api/index.ts';
import { sendOnce } from '../../command-line/creation.ts';
import { recoverLine } from '../../command-line/hints.ts';
import { DEFAULT_TIMEOUT_MS } from '../../context/service.ts';
import type { Context } from '../../context.ts';
import {
  asCliError,
  CliError,
  doubt,
  type Failure,
  failuresOf,
  isInterrupt,
} from '../../errors.ts';
import {
  type OpenedRequest,
  type RentalRequest,
  type ResponseId,
  responseId,
} from '../../journal/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import { openAlone } from '../recover/pending.ts';
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
  const shown = new ShownId(opened, request);
  let sent = false;
  try {
    const made = await sendOnce({ what: name, bills: true }, context, (options) =>
      send(api, {
        ...options,
        onSending() {
          options.onSending?.();
          sent = true;
        },
        onResponse: (response) => shown.take(idIn(response)),
      }),
    );
    await shown.take(made);
    await keepObserved(made, context);
    return made;
  } catch (error) {
    throw shown.id === undefined
      ? await notMade(error, { sent, opened, request }, context)
      : madeAnyway(error, shown.id, request);
  }
}

/** Returns the ID in a successful response. No documented refusal contains an ID. */
function idIn({ status, text }: RawResponse): ResponseId | undefined {
  return status < 300 ? responseId(text) : undefined;
}

/** What the response shows: no ID yet, the new instance's ID, or an ID in doubt, which throws. */
class ShownId {
  /** ID of the new instance. Stored on disk, unless the write failed. */
  id: string | undefined;
  readonly #opened: OpenedRequest;
  readonly #request: RentalRequest;

  constructor(opened: OpenedRequest, request: RentalRequest) {
    this.#opened = opened;
    this.#request = request;
  }

  /** Saves the first ID. Throws CliError('outcomeUnknown') if it can't be the new instance's. */
  async take(found: Pick<Instance, 'id' | 'name'> | undefined): Promise<void> {
    if (found === undefined || this.id !== undefined) return;
    const { id } = found;
    const doubt = await this.#doubtOf(id, found.name ?? undefined);
    if (doubt !== undefined) {
      // If the write fails, the request's error contains the ID.
      await failuresOf(this.#opened.keepDoubted(id));
      throw unknownOutcome(
        `The response for ${this.#request.name} has the ID ${id}, which ${doubt}. The outcome is unknown: an instance may exist and be billing.`,
        this.#request,
      );
    }
    this.id = id;
    await this.#opened.made(id);
  }

  async #doubtOf(id: string, name: string | undefined): Promise<string | undefined> {
    try {
      return await this.#opened.doubt(id, name);
    } catch (error) {
      return `could not be compared with known instances: ${String(error)}`;
    }
  }
}

/** Saves the complete response. The journal already has the ID. */
async function keepObserved(made: Instance, context: Context): Promise<void> {
  const [fault] = await failuresOf(context.journal().then((journal) => journal.observe(made)));
  if (fault !== undefined) context.err.warn('local_storage', fault.message);
}

interface Attempt {
  readonly sent: boolean;
  readonly opened: OpenedRequest;
  readonly request: RentalRequest;
}

/** Saves the outcome of a request without an ID, and completes its error. */
async function notMade(
  error: unknown,
  { sent, opened, request }: Attempt,
  context: Context,
): Promise<unknown> {
  const isUnknown = !isCertain(error, sent);
  const [fault] = await failuresOf(isUnknown ? opened.unknown() : opened.notMade());
  if (!isUnknown) {
    // The request stays on disk as unknown, since that is safe.
    const text = 'Nothing was created, but gpucloud will list it as UNKNOWN';
    if (fault !== undefined) context.err.warn('local_storage', `${text}: ${fault.message}`);
    return explainRental(asCliError(error), request, context);
  }
  if (!(error instanceof CliError)) {
    return unknownOutcome(
      `Unexpected failure after the request for ${request.name} was sent; its outcome is unknown: ${String(error)}`,
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

/** Whether certainly nothing was created. */
function isCertain(error: unknown, sent: boolean): boolean {
  if (!(error instanceof CliError)) return !sent;
  const { failure, httpStatus = 0 } = error;
  if (!sent) return NEVER_LEFT.includes(failure) || isInterrupt(error);
  return isSureRefusal(httpStatus);
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
  const { httpStatus, message } = asCliError(error);
  // Both name and ID are on disk.
  const typed = typedName(name, id);
  const why = httpStatus === undefined ? `: ${message}` : ` (HTTP ${httpStatus})`;
  return new CliError(
    isInterrupt(error) ? error.failure : 'notUnderstood',
    sentence(
      `Created ${name} (${id}). It is billing, but gpucloud could not use the rest of the response${why}`,
    ),
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
  return doubt(message, { hint: settleHint(request), resource: request.name });
}

function settleHint({ name }: RentalRequest): string {
  return `list the options: ${recoverLine(name)}`;
}
