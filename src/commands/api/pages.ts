import { isSuccess } from '../../api/errors.ts';
import type { Api, RawRequest, RawResponse } from '../../api/index.ts';
import { fieldOf, numberField } from '../../api/open-fields.ts';
import { pagesOf } from '../../api/pages.ts';
import { isTooDeep } from '../../api/response/envelope.ts';
import { CliError } from '../../errors.ts';
import { jsonIn, tooDeep } from './body.ts';

interface Page {
  /** The elements; empty for an unsuccessful response. */
  readonly data: readonly unknown[];
  readonly meta: { readonly limit: number; readonly total_pages: number };
  readonly refused?: RawResponse;
}

/**
 * Yields every page of a list, by the responses' pagination object (API document: Conventions). A
 * response without one is the last. An unsuccessful response ends the list.
 */
export async function* rawPages(request: RawRequest, api: Api): AsyncGenerator<Page> {
  for await (const { page } of pagesOf((number) => read(request, number, api))) yield page;
}

async function read(request: RawRequest, number: number, api: Api): Promise<Page> {
  // The first request has no page number, since most lists have no pages.
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
  // A service that ignores the page number would never end.
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
