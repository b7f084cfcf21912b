import type { Api, RawAnswer, RawRequest } from '../../api/index.ts';
import { CliError } from '../../errors.ts';
import { numberIn, parsed } from './body.ts';
import { refuseTooDeep } from './depth.ts';

/** The elements of one page, or an answer that is not a success. */
export type Page = { readonly elements: readonly unknown[] } | { readonly refused: RawAnswer };

/**
 * Every page of a list, by the pagination object of the answers (API document: Conventions). The
 * first is asked for without a number, since most lists know no pages; without `meta` it is all.
 */
export async function* pagesOf(request: RawRequest, api: Api): AsyncGenerator<Page> {
  let seen = 0;
  for (let page = 1; ; page += 1) {
    const query = page === 1 ? request.query : { ...request.query, page: String(page) };
    const answer = await api.call(query === undefined ? request : { ...request, query });
    if (answer.status < 200 || answer.status >= 300) {
      yield { refused: answer };
      return;
    }
    refuseTooDeep(request, answer);
    const { data, meta } = listIn(answer, request);
    yield { elements: data };
    seen += data.length;
    if (data.length === 0 || !hasMore(meta, page, data.length, seen, request)) {
      return;
    }
  }
}

function listIn(
  { text, status }: RawAnswer,
  request: RawRequest,
): { data: readonly unknown[]; meta: object | undefined } {
  const body = parsed(text)?.json;
  const data = fieldOf(body, 'data');
  if (!Array.isArray(data)) {
    throw new CliError(
      'notUnderstood',
      `--paginate: the answer to ${request.method} ${request.path} holds no list in "data".`,
      { httpStatus: status, hint: 'leave --paginate out to see the answer' },
    );
  }
  const meta = fieldOf(body, 'meta');
  return { data, meta: typeof meta === 'object' && meta !== null ? meta : undefined };
}

function hasMore(
  meta: object | undefined,
  page: number,
  length: number,
  seen: number,
  request: RawRequest,
): boolean {
  const told = (name: string) => numberIn(fieldOf(meta, name));
  const answered = told('page');
  if (answered !== undefined && answered !== page) {
    throw new CliError(
      'notUnderstood',
      `--paginate: ${request.method} ${request.path} was asked for page ${page} and answered page ${answered}. The list is not whole.`,
    );
  }
  const [pages, total, limit] = [told('total_pages'), told('total'), told('limit')];
  if (pages !== undefined) return page < pages;
  if (total !== undefined) return seen < total;
  return limit !== undefined && length >= limit;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
