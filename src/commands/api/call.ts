import type { RawAnswer, RawRequest } from '../../api/index.ts';
import { hidden, secretsIn } from '../../api/secrets.ts';
import { refusedKeyRemedy } from '../../config/remedies.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { clean, PLACEHOLDER } from '../../output/index.ts';
import { type BodyStyle, bodyText, elementText } from './body.ts';
import { refuseTooDeep } from './depth.ts';
import { outcomeOf } from './outcome.ts';
import { pagesOf } from './pages.ts';
import { type ApiInput, requestOf } from './request.ts';

/** Any call with the key in force: prints what came, and ends as its status says. */
export async function callApi(input: ApiInput, context: Context): Promise<void> {
  refuseFormats(context);
  const request = await requestOf(input, context);
  const api = await context.api();
  const style = await styleFor(request, context);
  if (input.paginate) {
    await printPages(request, style, context);
    return;
  }
  const answer = await api.call(request);
  const head = input.include ? headText(answer, style) : '';
  await context.out.text(head + bodyText(answer.text, style));
  await throwOutcome(request, answer, context);
  refuseTooDeep(request, answer);
}

/** An answer has no columns. What stands in the environment for other commands is left alone. */
function refuseFormats({ flags }: Context): void {
  const format = flags.quiet === true ? 'id' : flags.output;
  if (format !== undefined && !['table', 'json', 'jsonl'].includes(format)) {
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

/** One array of all elements; it stays open when a page fails, so that no part looks whole. */
async function printPages(request: RawRequest, style: BodyStyle, context: Context): Promise<void> {
  const { out } = context;
  const isArray = style.indent > 0;
  let count = 0;
  for await (const page of pagesOf(request, await context.api())) {
    if ('refused' in page) {
      // Of a list that has begun to be printed, only its own elements stand on stdout.
      if (count === 0) await out.text(bodyText(page.refused.text, style));
      await throwOutcome(request, page.refused, context);
      return;
    }
    let text = '';
    for (const element of page.elements) {
      const before = isArray ? (count === 0 ? '[\n' : ',\n') : '';
      text += `${before}${elementText(element, style)}${isArray ? '' : '\n'}`;
      count += 1;
    }
    await out.text(text);
  }
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
