import { isSuccess } from '../../api/errors.ts';
import type { RawAnswer, RawRequest, RawResponse } from '../../api/index.ts';
import { fieldOf, numberField } from '../../api/open-fields.ts';
import { pagesOf } from '../../api/pages.ts';
import { pageSizeOf } from '../../api/raw.ts';
import { isTooDeep } from '../../api/response/envelope.ts';
import { Option } from '../../command-line/command.ts';
import { writeSecret } from '../../command-line/creation.ts';
import { each } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import type { View } from '../../output/output.ts';
import { bodyOf, headText, jsonIn, type Masking, maskingFor, tooDeep } from './body.ts';
import { createsKey, METHODS, requestOf } from './request.ts';

/** Stores `--input` under another name, since `input` belongs to the global `--no-input`. */
const INPUT = 'inputFile';

function inputOption(): Option {
  const option = new Option('--input <file>', 'JSON file to send as the body (- for stdin)');
  option.attributeName = () => INPUT;
  return option;
}

export const api = verb({
  summary: 'Send any request to the API',
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
    const masking = await maskingFor(request, context);
    if (paginate) {
      const pages = pagesIn(request, masking, context);
      return context.out.list({ pages }, responseView, { live: true });
    }
    const answer = await (await context.api()).call(request);
    const head = flags.include === true ? headText(answer, masking, context) : '';
    await printAnswer(request, answer, head, masking, context);
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

const responseView: View<unknown> = { columns: [], isDocument: true, id: () => null, empty: '' };

async function printAnswer(
  request: RawRequest,
  answer: RawAnswer,
  head: string,
  masking: Masking,
  context: Context,
): Promise<void> {
  const { status, failure } = answer;
  const isQueried = context.flags.query !== undefined && isSuccess(status);
  const body = bodyOf(answer, masking, context);
  const print = async () => {
    await context.out.exact(isQueried ? head : head + body.text);
    if (isQueried && body.json !== undefined) await context.out.item(body.json.value, responseView);
  };
  await (createsKey(request) && isSuccess(status)
    ? writeSecret(keyIn(answer), context, print)
    : print());
  if (failure !== undefined) throw failure;
  if (body.isTooDeep) throw tooDeep(request, answer);
  // Skips the query if a successful response has no body.
  if (!isQueried || body.json !== undefined || answer.text.trim() === '') return;
  throw new CliError(
    'notUnderstood',
    `--query: ${request.method} ${request.path.split('?', 1)} returned ${status} with a body that is not JSON.`,
    {
      httpStatus: status,
      ...(request.method === 'GET' ? { hint: 'omit --query to see the response' } : {}),
    },
  );
}

/** Describes a new API key for a message. */
function keyIn({ text }: RawResponse): { label: string; id: string | undefined } {
  const id = /"id"\s*:\s*"([^"\\]{1,100})"/.exec(text)?.[1];
  return { label: id ?? '(unknown ID)', id };
}

/**
 * Yields the masked elements of every page of a list by following the responses' pagination object
 * (API document: Conventions). Stops after a response without a pagination object, unless the
 * operation pages its list. If a page fails or rows are missing, the printed array stays open, so
 * that it can't look complete.
 */
async function* pagesIn(
  request: RawRequest,
  masking: Masking,
  context: Context,
): AsyncGenerator<readonly unknown[]> {
  const api = await context.api();
  const read = async (number: number): Promise<Page> => {
    // Omits the page number from the first request, since most lists have no pages.
    const more = number === 1 ? {} : { query: { ...request.query, page: String(number) } };
    const answer = await api.call({ ...request, ...more });
    if (answer.failure === undefined) return pageOf(request, number, answer);
    // Once the list has started, only its elements go to stdout.
    if (number === 1) await context.out.exact(bodyOf(answer, masking, context).text);
    throw answer.failure;
  };
  // Rows of undocumented lists may lack an ID.
  const walk = { what: 'rows', idOf: (row: unknown) => JSON.stringify(row) };
  for await (const { fresh } of pagesOf(read, walk)) yield fresh.map(masking.element);
}

interface Page {
  readonly data: readonly unknown[];
  readonly meta: {
    readonly limit: number;
    readonly total_pages: number;
    readonly total: number;
    readonly isCounted: boolean;
  };
}

function pageOf(request: RawRequest, number: number, response: RawResponse): Page {
  const { method, path } = request;
  const body = jsonIn(response.text)?.value;
  if (isTooDeep(body)) throw tooDeep(request, response);
  const data = fieldOf(body, 'data');
  if (!Array.isArray(data)) {
    throw new CliError(
      'notUnderstood',
      `--paginate: the response to ${method} ${path} has no list in "data".`,
      { httpStatus: response.status, hint: 'omit --paginate to see the response' },
    );
  }
  const meta = fieldOf(body, 'meta');
  const shown = numberField(meta, 'page');
  // Stops if the service ignores the page number, since the list would never end.
  if (shown !== undefined && shown !== number && data.length > 0) {
    throw new CliError(
      'notUnderstood',
      `--paginate: ${method} ${path} returned page ${shown} instead of ${number}. The list is incomplete.`,
    );
  }
  const total = numberField(meta, 'total');
  const isPaged = meta != null || number > 1 || pageSizeOf(request) !== undefined;
  const limit = numberField(meta, 'limit') ?? (meta == null ? limitOf(request) : data.length);
  return {
    data,
    meta: {
      // A page with more rows than its limit is the whole list.
      limit: isPaged ? limit : 0,
      total_pages: numberField(meta, 'total_pages') ?? 0,
      total: total ?? 0,
      isCounted: total !== undefined,
    },
  };
}

/** Returns the requested page size, otherwise the documented one. */
function limitOf(request: RawRequest): number {
  const { path, query } = request;
  const asked =
    query?.limit ?? new URLSearchParams(path.split('?').slice(1).join('?')).get('limit');
  return Number(asked) || (pageSizeOf(request) ?? Number.POSITIVE_INFINITY);
}
