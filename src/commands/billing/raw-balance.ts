import type { Api, RawAnswer } from '../../api/index.ts';
import { CliError, type Failure } from '../../errors.ts';
import { clean, escapeUnseen } from '../../output/index.ts';

const PATH = '/billing/balance';
const SHOWN = 200;

/**
 * The JSON text of `/billing/balance` (API document: User, named without a shape). The text and not
 * its parsed form, since an amount may come as a number with more digits than JavaScript keeps.
 *
 * @throws CliError by the status of the answer, or `notUnderstood` where it is no JSON.
 */
export async function readRawBalance(api: Api, keyRemedy: string): Promise<string> {
  const answer = await api.call({ method: 'GET', path: PATH });
  if (answer.status < 200 || answer.status >= 300) {
    throw refusal(answer, keyRemedy);
  }
  try {
    JSON.parse(answer.text);
  } catch {
    throw new CliError('notUnderstood', `The answer to GET ${PATH} is no JSON.`, {
      httpStatus: answer.status,
      hint: 'gpucloud billing balance, without --raw, shows the wallet balance',
    });
  }
  // In valid JSON a raw control can only stand between tokens, where it is white space.
  return `${escapeUnseen(answer.text.trim().replace(/\r\n?/g, '\n').replaceAll('\t', '  '))}\n`;
}

function refusal({ status, text }: RawAnswer, keyRemedy: string): CliError {
  const words = [...clean(messageOf(text)).trim()].slice(0, SHOWN).join('');
  return new CliError(
    failureOf(status),
    `The service did not give ${PATH} (${status})${words === '' ? '.' : `: ${words}`}`,
    {
      httpStatus: status,
      retryable: status >= 500 || status === 408 || status === 429,
      hint:
        status === 401 || status === 403
          ? keyRemedy
          : 'gpucloud billing balance, without --raw, shows the wallet balance',
    },
  );
}

/** The `message` of an error in one of the documented shapes (API document: Errors), or the text. */
function messageOf(text: string): string {
  try {
    const { message }: { message?: unknown } = Object(JSON.parse(text));
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}

function failureOf(status: number): Failure {
  if (status < 400) return 'notUnderstood';
  if (status === 401 || status === 403) return 'authentication';
  if (status === 404) return 'notFound';
  if (status === 402 || status === 409) return 'wrongState';
  return status === 429 ? 'rateLimited' : 'refused';
}
