import {
  failureFor,
  isFailed,
  isRedirect,
  isSuccess,
  rateLimited,
  retryAfterMs,
  unavailableIf,
} from '../../api/errors.ts';
import type { Api, RawRequest, RawResponse } from '../../api/index.ts';
import { fieldOf, numberField } from '../../api/open-fields.ts';
import { pagesOf } from '../../api/pages.ts';
import { isTooDeep } from '../../api/response/envelope.ts';
import { messageOf } from '../../api/response/message.ts';
import { secretsIn } from '../../api/response/secrets.ts';
import { Option } from '../../cli/command.ts';
import { writeSecret } from '../../cli/creation.ts';
import { each } from '../../cli/parse.ts';
import { action } from '../../cli/verb.ts';
import { refusedKeyRemedy } from '../../config/remedies.ts';
import type { Context } from '../../context.ts';
import { CliError, type Failure, usageError } from '../../errors.ts';
import type { View } from '../../output/output.ts';
import { hider } from '../../rules/secrets.ts';
import {
  type BodyStyle,
  bodyOf,
  elementText,
  elementValue,
  headText,
  jsonIn,
  styleFor,
  tooDeep,
} from './body.ts';
import { createsKey, METHODS, requestOf, segmentsOf } from './request.ts';

/** Stores `--input` under another name, since `input` belongs to the global `--no-input`. */
const INPUT = 'inputFile';

function inputOption(): Option {
  const option = new Option('--input <file>', 'JSON file to send as the body (- for stdin)');
  option.attributeName = () => INPUT;
  return option;
}

export const api = action({
  notes:
    'Prints the response unchanged: indented in a terminal and with --json, on one line with ' +
    '-o jsonl. Masks documented secrets unless --show-secrets is given. --query ' +
    'searches the whole response, or the list of all pages with --paginate.\n\n' +
    'Sends fields as a query for GET or with --input, otherwise as a JSON body. Rejects ' +
    'requests that rent an instance: use "gpucloud instances create".',
  completes: {
    method: METHODS,
    path: 'nothing',
    '--raw-field': 'nothing',
    '--field': 'nothing',
  },
  // A response has no columns.
  refuses: ['--columns', '--sort'],
  examples: [
    'gpucloud api GET /users/me',
    'gpucloud api GET /billing/transactions -f type=DEPOSIT,BONUS --paginate',
    "gpucloud api GET /billing/transactions --query 'data[0].amount'",
    'gpucloud api POST /storage/drives -f name=data -F size_gb=500',
    'gpucloud api PATCH /users/me --input body.json --include',
    'gpucloud api POST /storage/drives/ID/resume --input - <<< "{}"',
  ],
  takes: (command) =>
    command
      .argument('<method>', 'GET, HEAD, POST, PUT, PATCH or DELETE')
      .argument('<path>', 'path below the base URL, such as /users/me')
      .option('-f, --raw-field <name=value>', 'string field (repeatable)', each)
      .option(
        '-F, --field <name=value>',
        'number, true, false, null, or @FILE for its contents (repeatable)',
        each,
      )
      .addOption(inputOption())
      .option('-i, --include', 'print the status and headers first')
      .addOption(
        new Option('--paginate', 'fetch all pages and print one list').conflicts('include'),
      ),
  async run(context, method, path, flags) {
    refuseFormats(context);
    const input: unknown = Reflect.get(flags, INPUT);
    const paginate = flags.paginate === true;
    const include = flags.include === true;
    const request = await requestOf(
      {
        method,
        path,
        rawFields: flags.rawField ?? [],
        fields: flags.field ?? [],
        input: typeof input === 'string' ? input : undefined,
        paginate,
      },
      context,
    );
    if (context.flags.query !== undefined && request.method === 'HEAD') {
      throw usageError('--query: a HEAD response has no body');
    }
    const service = await context.api();
    const style = await styleFor(request, context);
    if (paginate) return printPages(request, style, context);
    const answer = await service.call(request);
    await printAnswer(request, answer, include ? headText(answer, style) : '', style, context);
  },
});

/**
 * Rejects formats with columns, since a response has none. Ignores a format from the environment:
 * it is meant for other commands.
 */
function refuseFormats({ flags }: Context): void {
  const format = flags.quiet === true ? 'id' : flags.output;
  // A query result also allows yaml and tsv; context.out checks these.
  const isShown = format === undefined || ['table', 'json', 'jsonl'].includes(format);
  if (!isShown && flags.query === undefined) {
    throw usageError(`--output ${format}: api prints the service's JSON; use json or jsonl`);
  }
  if (flags.columns !== undefined || flags.sort !== undefined) {
    throw usageError('--columns and --sort: responses have no columns');
  }
}

/** Shows only the query's result. */
const foundView: View<unknown> = { columns: [], id: () => null, empty: '' };

async function printAnswer(
  request: RawRequest,
  answer: RawResponse,
  head: string,
  style: BodyStyle,
  context: Context,
): Promise<void> {
  const isQueried = context.flags.query !== undefined && isSuccess(answer.status);
  const body = bodyOf(answer, style);
  const print = async () => {
    await context.out.exact(isQueried ? head : head + body.text);
    if (isQueried && body.json !== undefined) await context.out.item(body.json.value, foundView);
  };
  await (createsKey(request) && isSuccess(answer.status)
    ? writeSecret(keyIn(answer), context, print)
    : print());
  const failure = await failureOf(request, answer, context);
  if (failure !== undefined) throw failure;
  if (body.isTooDeep) throw tooDeep(request, answer);
  // Skips the query if a successful response has no body.
  if (!isQueried || body.json !== undefined || answer.text.trim() === '') return;
  throw new CliError(
    'notUnderstood',
    `--query: ${request.method} ${wayOf(request)} returned ${answer.status} with a body that is not JSON.`,
    {
      httpStatus: answer.status,
      ...(request.method === 'GET' ? { hint: 'omit --query to see the response' } : {}),
    },
  );
}

/** Describes a new API key for a message. */
function keyIn({ text }: RawResponse): { label: string; id: string | undefined } {
  const id = /"id"\s*:\s*"([^"\\]{1,100})"/.exec(text)?.[1];
  return { label: id ?? '(unknown ID)', id };
}

function wayOf({ path }: RawRequest): string {
  return path.split('?', 1).join();
}

/**
 * Prints all elements as one array. If a page fails, the array stays open, so that it can't look
 * complete.
 */
async function printPages(request: RawRequest, style: BodyStyle, context: Context): Promise<void> {
  const { out } = context;
  const isArray = style.indent > 0;
  const all: unknown[] = [];
  const isQueried = context.flags.query !== undefined;
  let count = 0;
  for await (const { data, refused } of rawPages(request, await context.api())) {
    if (refused !== undefined) {
      // Once the list has started, only its elements go to stdout.
      if (count === 0) await out.exact(bodyOf(refused, style).text);
      throw await failureOf(request, refused, context);
    }
    let text = '';
    for (const element of data) {
      if (isQueried) all.push(elementValue(element, style));
      const before = isArray ? (count === 0 ? '[\n' : ',\n') : '';
      text += `${before}${elementText(element, style)}${isArray ? '' : '\n'}`;
      count += 1;
    }
    if (!isQueried) await out.text(text);
  }
  if (isQueried) return out.item(all, foundView);
  if (isArray) await out.text(count === 0 ? '[]\n' : '\n]\n');
}

/**
 * Builds the error for a response from its status and request only, as in other commands. Returns
 * undefined for a success.
 */
export async function failureOf(
  request: RawRequest,
  answer: RawResponse,
  context: Context,
): Promise<CliError | undefined> {
  const { status, headers } = answer;
  if (isSuccess(status) || answer.isDeleted) return undefined;
  if (status === 429 && !answer.doubted) {
    return rateLimited(status, retryAfterMs(headers, context.clock.now()));
  }
  const { method, path } = request;
  const isRead = method === 'GET' || method === 'HEAD';
  const isUnknown = !isRead && (isFailed(status) || isRedirect(status) || answer.doubted === true);
  const failure = isUnknown ? 'outcomeUnknown' : failureFor(status, isStateChange(request));
  const hide = hider(secretsIn(request.body));
  const words = messageOf(answer, hide);
  return new CliError(
    failure,
    `${method} ${path.split('?', 1)} returned ${status}: ${words}.${isUnknown ? ' The request may have taken effect.' : ''}`,
    {
      code: isUnknown ? undefined : unavailableIf(status),
      httpStatus: status,
      retryable: isFailed(status) && (!isUnknown || method === 'PATCH' || method === 'DELETE'),
      mayBeBilling: isUnknown && method === 'POST',
      hint:
        failure === 'authentication' ? refusedKeyRemedy(await context.settings()) : HINTS[failure],
    },
  );
}

const HINTS: Readonly<Partial<Record<Failure, string>>> = {
  outcomeUnknown: 'check whether the request took effect before you send it again',
  notUnderstood: 'gpucloud does not follow redirects, to protect the API key',
};

/**
 * Whether a documented 400 of this operation means that the resource is in the wrong state (API
 * document: Errors).
 */
function isStateChange({ method, path }: RawRequest): boolean {
  const last = segmentsOf(path).at(-1) ?? '';
  return method === 'POST' && ['start', 'stop', 'terminate', 'resume'].includes(last);
}

interface Page {
  /** Elements of the page; empty for an unsuccessful response. */
  readonly data: readonly unknown[];
  readonly meta: { readonly limit: number; readonly total_pages: number };
  readonly refused?: RawResponse;
}

/**
 * Yields every page of a list by following the responses' pagination object (API document:
 * Conventions). Stops after a response without a pagination object, and after an unsuccessful
 * response.
 */
async function* rawPages(request: RawRequest, api: Api): AsyncGenerator<Page> {
  for await (const { page } of pagesOf((number) => read(request, number, api))) yield page;
}

async function read(request: RawRequest, number: number, api: Api): Promise<Page> {
  // Omits the page number from the first request, since most lists have no pages.
  const more = number === 1 ? {} : { query: { ...request.query, page: String(number) } };
  const response = await api.call({ ...request, ...more });
  if (!isSuccess(response.status)) {
    return { data: [], meta: { limit: 0, total_pages: 0 }, refused: response };
  }
  const body = jsonIn(response.text)?.value;
  if (isTooDeep(body)) throw tooDeep(request, response);
  const data = fieldOf(body, 'data');
  if (!Array.isArray(data)) throw noList(request, response);
  const meta = fieldOf(body, 'meta');
  const shown = numberField(meta, 'page');
  // Stops if the service ignores the page number, since the list would never end.
  if (shown !== undefined && shown !== number && data.length > 0) {
    throw new CliError(
      'notUnderstood',
      `--paginate: ${request.method} ${request.path} returned page ${shown} instead of ${number}. The list is incomplete.`,
    );
  }
  const limit = numberField(meta, 'limit') ?? (meta == null ? data.length + 1 : data.length);
  return { data, meta: { limit, total_pages: numberField(meta, 'total_pages') ?? 0 } };
}

function noList({ method, path }: RawRequest, { status }: RawResponse): CliError {
  return new CliError(
    'notUnderstood',
    `--paginate: the response to ${method} ${path} has no list in "data".`,
    { httpStatus: status, hint: 'omit --paginate to see the response' },
  );
}
