import type { Api, RawRequest, RawResponse } from '../../api/index.ts';
import { isTooDeep } from '../../api/response/depth.ts';
import { CliError } from '../../errors.ts';
import { jsonIn, tooDeep } from './body.ts';
import { isSuccess } from './failure.ts';

/** The elements of one page, or an unsuccessful response. */
export type Page = { readonly elements: readonly unknown[] } | { readonly refused: RawResponse };

/**
 * Yields every page of a list, by the responses' pagination object (API document: Conventions). The
 * first request has no page number, since most lists have no pages; without `meta` it is the last.
 */
export async function* pagesOf(request: RawRequest, api: Api): AsyncGenerator<Page> {
  let seen = 0;
  for (let page = 1; ; page += 1) {
    const query = page === 1 ? request.query : { ...request.query, page: String(page) };
    const answer = await api.call(query === undefined ? request : { ...request, query });
    if (!isSuccess(answer)) {
      yield { refused: answer };
      return;
    }
    const body = jsonIn(answer.text)?.value;
    if (isTooDeep(body)) throw tooDeep(request, answer);
    const data = fieldOf(body, 'data');
    if (!Array.isArray(data)) throw noList(request, answer);
    yield { elements: data };
    seen += data.length;
    const meta = fieldOf(body, 'meta');
    const [shown, pages, total, limit] = ['page', 'total_pages', 'total', 'limit'].map((name) => {
      const number = fieldOf(meta, name);
      return typeof number === 'number' ? number : undefined;
    });
    // A service that ignores the page number would never end.
    if (shown !== undefined && shown !== page && data.length > 0) {
      throw new CliError(
        'notUnderstood',
        `--paginate: ${request.method} ${request.path} returned page ${shown} instead of ${page}. The list is incomplete.`,
      );
    }
    const isLast =
      pages === undefined
        ? total === undefined
          ? limit === undefined || data.length < limit
          : seen >= total
        : page >= pages;
    if (isLast || data.length === 0) return;
  }
}

function noList({ method, path }: RawRequest, { status }: RawResponse): CliError {
  return new CliError(
    'notUnderstood',
    `--paginate: the response to ${method} ${path} has no list in "data".`,
    { httpStatus: status, hint: 'omit --paginate to see the response' },
  );
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
