import type { Api, CreateInstanceBody, Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { AskedElsewhere, type UnknownRequest } from '../journal/index.ts';
import { instant, relative } from '../output/time.ts';
import { kopecksText, type Money } from '../rules/money.ts';
import { rentWithin } from './max-price.ts';

/** What came of making a request again. */
export interface AskedAgain {
  /** The machine that it made; undefined while nothing is settled. */
  readonly id: string | undefined;
  readonly note: string;
  /** It could not be made again, so that another request of the name may be. */
  readonly isImpossible?: true;
  /** Why the machine that it made was ended, or its answer could not be used. */
  readonly error?: CliError;
}

/**
 * Makes a create again under its name, which is unique, where a person agrees; within `limit`, the
 * lowest of all that it settles. What keeps it from being made is in the note.
 */
export async function askAgain(
  request: UnknownRequest,
  { retry, limit }: { readonly retry: boolean; readonly limit: Money | undefined },
  context: Context,
): Promise<AskedAgain> {
  const { name, uid } = request;
  const send = repetitionOf(request, limit);
  if (typeof send === 'string') {
    return { id: undefined, note: send, isImpossible: true };
  }
  if (!retry && !(await isAllowed(request, limit, context))) {
    return { id: undefined, note: 'nothing is certain; --retry makes the same request again' };
  }
  try {
    const again = await rentWithin(
      limit,
      {
        operation: request.operation,
        name,
        offer_id: request.offer_id,
        retry_of: uid,
        ...(request.body === undefined ? {} : { body: request.body }),
      },
      context,
      send,
    );
    return { id: again.id, note: rentedWords(again.id) };
  } catch (error) {
    if (!(error instanceof CliError) || error.failure === 'storage') throw error;
    if (error instanceof AskedElsewhere) {
      return { id: undefined, note: 'another gpucloud settles it just now: run this once more' };
    }
    const id = await madeInstead(uid, error, context);
    return id === undefined
      ? { id, note: refusedWords(error) }
      : { id, note: `${rentedWords(id)}; ${error.message}`, error };
  }
}

/** The machine that was made though the request ended in an error: then the first one is settled. */
async function madeInstead(
  uid: string,
  { resource }: CliError,
  context: Context,
): Promise<string | undefined> {
  const open = await (await context.journal()).unknown();
  return open.some((request) => request.uid === uid) ? undefined : resource;
}

function rentedWords(id: string): string {
  return `rented now as ${id}; names are unique, so no machine of the first request bears this name: it was never made, or has ended`;
}

/** The same request as before, or why it can't be made from here. */
function repetitionOf(
  request: UnknownRequest,
  limit: Money | undefined,
): ((api: Api, options: object) => Promise<Instance>) | string {
  const { operation, body, masked, name, isSpoilt } = request;
  if (isSpoilt === true) {
    return 'the file of the request is torn, and its name lost: look for a machine of that time at the web console';
  }
  if (operation === 'reorder') {
    return `nothing is certain, and the published API does not say that new names are unique, so that asking again could rent a second machine: look for ${name} at the web console`;
  }
  if (operation === 'create' && masked) {
    const flags = limit === undefined ? '' : ` --max-price ${kopecksText(limit)}`;
    return `nothing is certain; its secrets are not kept, so ask again by hand: gpucloud instances create ${name}${flags} --yes with the same flags`;
  }
  if (operation !== 'create' || body === undefined) {
    return 'nothing is certain, and asking again would settle nothing: look at the web console';
  }
  if (body.instance_name !== name) {
    // A file that was imported may say anything; under another name nothing keeps it from a second.
    return 'what was kept of the request is of another name, so that making it again would rent something else: look at the web console';
  }
  // The very body that its schema let through, and it is checked again on the way out.
  return (api, options) => api.instances.create(body as unknown as CreateInstanceBody, options);
}

async function isAllowed(
  request: UnknownRequest,
  limit: Money | undefined,
  context: Context,
): Promise<boolean> {
  if (context.flags.yes === true) {
    return true;
  }
  const { name, asked_at } = request;
  const prompts = await context.prompts();
  const then = instant(asked_at);
  const when = then === undefined ? '' : ` (asked ${relative(then, context.clock.now())})`;
  const within =
    limit === undefined
      ? ''
      : ` One that costs more than ${kopecksText(limit)} RUB an hour is terminated at once.`;
  return (
    (await prompts?.confirm(
      `${name}${when}: make the same request again? Where the first was not carried out, this rents the machine now.${within}`,
      false,
    )) ?? false
  );
}

/** The service's words are shown, but only its status is judged: a 4xx has several reasons. */
function refusedWords(error: CliError): string {
  const { httpStatus = 0, message } = error;
  const isRefusal = httpStatus >= 400 && httpStatus < 500 && error.failure !== 'authentication';
  return isRefusal
    ? `asking again was refused, as it is when the machine exists: ${message}`
    : `asking again did not settle it: ${message}`;
}
