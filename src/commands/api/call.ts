import type { RawAnswer, RawRequest } from '../../api/index.ts';
import { hidden, secretsIn } from '../../api/response/secrets.ts';
import { refusedKeyRemedy } from '../../config/remedies.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { clean, PLACEHOLDER } from '../../output/index.ts';
import type { View } from '../../output/output.ts';
import { type BodyStyle, bodyText, bodyValue, elementText, elementValue } from './body.ts';
import { refuseTooDeep } from './depth.ts';
import { outcomeOf } from './outcome.ts';
import { pagesOf } from './pages.ts';
import { type ApiInput, requestOf } from './request.ts';

/** Any call with the key in force: prints what came, and ends as its status says. */
export async function callApi(input: ApiInput, context: Context): Promise<void> {
  refuseFormats(context);
  const request = await requestOf(input, context);
  if (context.flags.query !== undefined && request.method === 'HEAD') {
    throw usageError('--query: the answer to a HEAD has no body to look into');
  }
  const api = await context.api();
  const style = await styleFor(request, context);
  if (input.paginate) {
    await printPages(request, style, context);
    return;
  }
  const answer = await api.call(request);
  const head = input.include ? headText(answer, style) : '';
  const isAsked = context.flags.query !== undefined && isSuccess(answer);
  await context.out.text(isAsked ? head : head + bodyText(answer.text, style));
  await throwOutcome(request, answer, context);
  refuseTooDeep(request, answer);
  if (isAsked) await printFinding(request, answer, style, context);
}

function isSuccess({ status }: RawAnswer): boolean {
  return status >= 200 && status < 300;
}

/** Only a query gets to see it: without one an answer is printed as it came. */
const answerView: View<unknown> = { columns: [], id: () => null, empty: '' };

/** What the query finds in the whole answer; a success without a body has nothing to be found. */
async function printFinding(
  request: RawRequest,
  answer: RawAnswer,
  style: BodyStyle,
  { out }: Context,
): Promise<void> {
  if (answer.text.trim() === '') return;
  const value = bodyValue(answer.text, style);
  if (value === undefined) {
    const [way = ''] = request.path.split('?', 1);
    throw new CliError(
      'notUnderstood',
      `--query: ${request.method} ${way} was answered with ${answer.status}, and the answer is no JSON that could be looked into.`,
      {
        httpStatus: answer.status,
        ...(request.method === 'GET' ? { hint: 'leave --query out to see the answer' } : {}),
      },
    );
  }
  await out.item(value.json, answerView);
}

/** An answer has no columns. What stands in the environment for other commands is left alone. */
function refuseFormats({ flags }: Context): void {
  const format = flags.quiet === true ? 'id' : flags.output;
  // What a query finds has a form in yaml and tsv too; that these take one is judged before.
  if (
    format !== undefined &&
    flags.query === undefined &&
    !['table', 'json', 'jsonl'].includes(format)
  ) {
    throw usageError(`--output ${format}: api prints the JSON of the service; use json or jsonl`);
  }
  if (flags.columns !== undefined || flags.sort !== undefined) {
    throw usageError(
      '--columns and --sort: api prints answers as they come, which have no columns',
    );
  }
}

async function styleFor(request: RawRequest, context: Context): Promise<BodyStyle> {
  const { out } = context;
  const { apiKey } = await context.settings();
  const secrets = [...secretsIn(request.body)];
  if (apiKey !== undefined) secrets.push(apiKey.value);
  // A quotation mark in a password stands in JSON in another form.
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  return {
    showSecrets: context.flags.showSecrets === true,
    indent: out.format === 'jsonl' ? 0 : 2,
    asItCame: !out.terminal && out.format !== 'json' && out.format !== 'jsonl',
    hide: (text) => forms.reduce((left, secret) => left.replaceAll(secret, PLACEHOLDER), text),
  };
}

/**
 * One array of all elements, or what a query finds in it; it stays open when a page fails, so that no
 * part looks whole.
 */
async function printPages(request: RawRequest, style: BodyStyle, context: Context): Promise<void> {
  const { out } = context;
  const isArray = style.indent > 0;
  const all: unknown[] | undefined = context.flags.query === undefined ? undefined : [];
  let count = 0;
  for await (const page of pagesOf(request, await context.api())) {
    if ('refused' in page) {
      // Of a list that has begun to be printed, only its own elements stand on stdout.
      if (count === 0) await out.text(bodyText(page.refused.text, style));
      await throwOutcome(request, page.refused, context);
      return;
    }
    if (all !== undefined) {
      for (const element of page.elements) all.push(elementValue(element, style));
      count = all.length;
      continue;
    }
    let text = '';
    for (const element of page.elements) {
      const before = isArray ? (count === 0 ? '[\n' : ',\n') : '';
      text += `${before}${elementText(element, style)}${isArray ? '' : '\n'}`;
      count += 1;
    }
    await out.text(text);
  }
  if (all !== undefined) return out.item(all, answerView);
  if (isArray) await out.text(count === 0 ? '[]\n' : '\n]\n');
}

async function throwOutcome(
  request: RawRequest,
  answer: RawAnswer,
  context: Context,
): Promise<void> {
  const secrets = secretsIn(request.body);
  const failure = outcomeOf(
    request,
    answer,
    (text) => hidden(text, secrets),
    context.clock.now(),
    refusedKeyRemedy(await context.settings()),
  );
  if (failure !== undefined) throw failure;
}

/** Headers that hand out sessions; a key of ours that is repeated is hidden with the rest. */
const SECRET_HEADERS = new Set(['set-cookie', 'authorization', 'x-api-key']);

function headText({ status, headers }: RawAnswer, style: BodyStyle): string {
  const lines = Object.entries(headers).map(([name, value]) => {
    const isSecret = SECRET_HEADERS.has(name) && !style.showSecrets;
    return `${clean(name)}: ${isSecret ? PLACEHOLDER : style.hide(clean(value))}\n`;
  });
  return `HTTP/1.1 ${status}\n${lines.join('')}\n`;
}
