import type { UnknownRequest } from '../journal/index.ts';
import type { Finding, Undecided } from './evidence.ts';
import { isOfTheTime, type ServiceClock } from './recover-window.ts';

/** Milliseconds after which a thing that is in no list was not made: longer than a request takes. */
const SETTLED_AFTER = 2 * 60_000;

/** What the service lists whole (API document: Endpoints), in the words of people. */
export const LISTED = {
  drive: { what: 'drive', list: 'gpucloud drives list' },
  api_key: { what: 'API key', list: 'gpucloud api-keys list' },
} as const;
export type ListedOperation = keyof typeof LISTED;

export interface Listed {
  readonly id: string;
  readonly name?: string | null | undefined;
  readonly status?: string | null | undefined;
  readonly created_at?: string | null | undefined;
  /** Of a drive. */
  readonly size_gb?: number | null | undefined;
}

export interface ListedEvidence {
  /** All that the service has of this kind. */
  readonly items: readonly Listed[];
  /** The requests of this kind whose outcome is unknown, the wanted one among them. */
  readonly requests: readonly UnknownRequest[];
  /** Other requests of this kind that may make one yet, or may have: nobody knows how many. */
  readonly rivals: readonly UnknownRequest[];
  /** Ids that are known to come of other requests. */
  readonly made: ReadonlySet<string>;
  readonly now: number;
  readonly service: Pick<ServiceClock, 'ahead'>;
}

type ListedRequest = UnknownRequest & { readonly operation: ListedOperation };

type Fits = (item: Listed, request: UnknownRequest) => boolean;

/**
 * What a whole list tells of a request. Names of drives and keys are not unique, so that one thing
 * proves nothing by its name alone: as many as were asked for, of the right times, and of which none
 * is known to come of another request, are these. One too many, made elsewhere under the name or by a
 * request that arrived twice, and one too few are left to a person. Where both fall together within
 * the hour the number is right again; but then too every thing that there is stands in the list.
 *
 * A drive of just the size that was asked for is taken at once, since that is the usual end of a lost
 * answer. What it risks: somebody makes one of this name and size within the hour, and the request
 * arrives in the two minutes after it; then a second one, in the list too, bills untold. One of
 * another size is taken only once nothing can arrive any more. A key has no size and costs nothing.
 */
export function findListed(wanted: ListedRequest, evidence: ListedEvidence): Finding | Undecided {
  const { name, operation } = wanted;
  const { what, list } = LISTED[operation];
  if (evidence.rivals.some((rival) => rival.name === name)) {
    return undecided(
      `another request for the ${what} ${name} has no certain outcome, of another process or key`,
    );
  }
  const ofName = evidence.items.filter((item) => item.name === name && !evidence.made.has(item.id));
  const undated = ofName.filter(
    (item) => Number.isNaN(timeOf(item.created_at)) && sizeBeside(item, wanted) !== 'smaller',
  );
  if (undated.length > 0) {
    return undecided(
      `of this name there is ${named(undated)}; when it was made the service does not say, so whether it came of this request is not known: ${list}`,
    );
  }
  const fits: Fits = (item, request) =>
    isOfTheTime(item.created_at, request.asked_at, evidence.service) &&
    sizeBeside(item, request) !== 'smaller';
  const { requests, items } = connected(wanted, evidence.requests, ofName, fits);
  if (items.length === 0) return absent(wanted, ofName, evidence.now);
  const own = pairOf(wanted, requests, items, fits);
  if (own === undefined) {
    return undecided(
      `${counted(requests.length, 'request')} of this name and time, and ${counted(items.length, what)}: ${named(items)}; which came of what is not certain: ${list}`,
    );
  }
  const wait = waitOf(wanted, evidence.now);
  if (wait !== undefined && sizeBeside(own, wanted) !== 'same') {
    return undecided(
      `of this name there is ${own.id}${sizeWords(own, wanted)}; the request may still arrive, so run this again in ${wait} s`,
    );
  }
  return there(own, wanted, items.length);
}

type Size = 'same' | 'larger' | 'smaller' | 'unsaid';

/**
 * The size of a drive beside the one that was asked for. The service raises it as data is stored, and
 * lowers none by itself (API document: Endpoints, POST /storage/drives); a person may do either.
 */
function sizeBeside({ size_gb: size }: Listed, { operation, body }: UnknownRequest): Size {
  if (operation !== 'drive') return 'same';
  const asked = body?.size_gb;
  if (typeof size !== 'number' || typeof asked !== 'number') return 'unsaid';
  if (size === asked) return 'same';
  return size > asked ? 'larger' : 'smaller';
}

/** Nothing for one of just the size that was asked for. */
function sizeWords(item: Listed, request: UnknownRequest): string {
  const size = sizeBeside(item, request);
  if (size === 'same') return '';
  if (size === 'unsaid') return ', whose size beside the one that was asked for is not known';
  return `, of ${item.size_gb} GB where ${request.body?.size_gb} GB were asked for`;
}

function there(item: Listed, wanted: ListedRequest, count: number): Finding {
  const { id } = item;
  const { what } = LISTED[wanted.operation];
  const isGone = item.status === 'DELETED';
  const size = sizeWords(item, wanted);
  const state = isGone
    ? `the ${what} was made, ${id}${size}, and is deleted`
    : `the ${what} is there, ${id}${size}`;
  const among = count === 1 ? '' : `; ${count} were asked for and ${count} were made`;
  const secret =
    what === LISTED.api_key.what ? '; its secret was in the lost answer, so make a new one' : '';
  return { outcome: 'rented', details: { id }, isOver: isGone, words: `${state}${among}${secret}` };
}

function absent(
  wanted: ListedRequest,
  ofName: readonly Listed[],
  now: number,
): Finding | Undecided {
  const { what, list } = LISTED[wanted.operation];
  if (ofName.length > 0) {
    // However old it seems, it may be the one: clocks differ by more than they should. And a person
    // may have made it smaller since.
    const told = ofName.map((item) =>
      sizeBeside(item, wanted) === 'smaller'
        ? `${item.id}${sizeWords(item, wanted)}`
        : `${item.id}, which seems to be of another time`,
    );
    return undecided(`of this name there is ${told.join(', and ')}: ${list}`);
  }
  const wait = waitOf(wanted, now);
  if (wait !== undefined) {
    return undecided(
      `the list of the service has no such ${what} yet; the request may still arrive, so run this again in ${wait} s`,
    );
  }
  return {
    outcome: 'not_made',
    details: { reason: 'it is in no list' },
    words: `the list of the service has no such ${what}: it was not made, or has gone or got another name since`,
  };
}

/** Seconds after which the request can't arrive any more; undefined where they are over. */
function waitOf({ asked_at }: UnknownRequest, now: number): number | undefined {
  const wait = Date.parse(asked_at) + SETTLED_AFTER - now;
  return wait < 0 ? undefined : Math.floor(wait / 1000) + 1;
}

/** The requests of the name and the things that may have come of them, as far as they hang together. */
function connected(
  wanted: UnknownRequest,
  all: readonly UnknownRequest[],
  ofName: readonly Listed[],
  fits: Fits,
): { readonly requests: readonly UnknownRequest[]; readonly items: readonly Listed[] } {
  const namesakes = all.filter(({ name }) => name === wanted.name);
  let requests: readonly UnknownRequest[] = [wanted];
  for (;;) {
    const items = ofName.filter((item) => requests.some((request) => fits(item, request)));
    const wider = namesakes.filter(
      (request) => request.uid === wanted.uid || items.some((item) => fits(item, request)),
    );
    if (wider.length === requests.length) return { requests, items };
    requests = wider;
  }
}

/**
 * The thing that came of the request where there are as many as requests: each its own, by the
 * order of their times. Two of one moment may have changed places, which changes nothing.
 */
function pairOf(
  wanted: UnknownRequest,
  requests: readonly UnknownRequest[],
  items: readonly Listed[],
  fits: Fits,
): Listed | undefined {
  if (items.length !== requests.length) return undefined;
  const asked = [...requests].sort((a, b) => timeOf(a.asked_at) - timeOf(b.asked_at));
  const made = [...items].sort((a, b) => timeOf(a.created_at) - timeOf(b.created_at));
  const isMatch = asked.every((request, at) => {
    const item = made[at];
    return item !== undefined && fits(item, request);
  });
  return isMatch ? made[asked.findIndex(({ uid }) => uid === wanted.uid)] : undefined;
}

function timeOf(text: string | null | undefined): number {
  return Date.parse(text ?? '');
}

function named(items: readonly Listed[]): string {
  return items.map(({ id }) => id).join(' and ');
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function undecided(words: string): Undecided {
  return { outcome: 'unknown', words };
}
