import type { RawAnswer, RawRequest } from '../../api/index.ts';
import { isTooDeep, TOO_DEEP } from '../../api/response/depth.ts';
import { CliError } from '../../errors.ts';
import { parsed } from './body.ts';

/**
 * The success of a request, of which nothing can be shown.
 *
 * @throws CliError('notUnderstood') for JSON that is nested too deep to be looked through.
 */
export function refuseTooDeep({ method, path }: RawRequest, { text, status }: RawAnswer): void {
  const body = parsed(text);
  if (body === undefined || !isTooDeep(body.json)) return;
  const [way = ''] = path.split('?', 1);
  throw new CliError(
    'notUnderstood',
    `The answer to ${method} ${way} ${TOO_DEEP}, and is not shown: a secret in it could not be masked.`,
    { httpStatus: status },
  );
}
