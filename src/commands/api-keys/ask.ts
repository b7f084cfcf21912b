import type { ApiKey } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { journaled } from '../../instances/journaled.ts';
import { apiKey } from '../../rules/service.ts';

/** A key that was created, and the secret that is told this once. */
export interface NewKey {
  /** The name that was asked for. */
  readonly name: string;
  /** What the answer told of it, as it came. */
  readonly key: Partial<ApiKey>;
  readonly secret: string;
  /** What to end with, where the answer held the secret and could not be used otherwise. */
  readonly fault?: CliError;
}

/**
 * Asks for the key. Throws what the request throws, and CliError('notUnderstood') when a key was
 * created whose secret did not come.
 */
export async function askedFor(name: string, context: Context): Promise<NewKey> {
  let salvaged: string | undefined;
  let key: ApiKey;
  try {
    key = await journaled(
      { operation: 'api_key', name, offer_id: null, body: { name } },
      context,
      (api, options) =>
        api.apiKeys.create(
          { name },
          {
            ...options,
            async onAnswer(answer) {
              const { status, text } = answer;
              if (status >= 200 && status < 300) salvaged = secretIn(text);
              await options.onAnswer?.(answer);
            },
          },
        ),
    );
  } catch (error) {
    if (salvaged === undefined || !(error instanceof CliError)) throw error;
    return { name, key: { name }, secret: salvaged, fault: unclear(name, error) };
  }
  const secret = key.secret_key ?? '';
  if (!apiKey(secret).ok) {
    throw new CliError(
      'notUnderstood',
      `The API key ${name} (${key.id}) was created, but the answer holds no usable secret_key, and no other answer will.`,
      {
        hint: 'the key stays; create another one: gpucloud api-keys create NAME',
        resource: key.id,
      },
    );
  }
  return { name, key, secret };
}

/** The secret in an answer that is broken elsewhere: it is told in this answer alone. */
function secretIn(text: string): string | undefined {
  const found = /"secret_key"\s*:\s*"([^"\\]+)"/.exec(text)?.[1];
  return found !== undefined && apiKey(found).ok ? found : undefined;
}

function unclear(name: string, error: CliError): CliError {
  return new CliError(
    'notUnderstood',
    `The API key ${name} was created and its secret came, but the rest of the answer could not be used: ${error.message}`,
    {
      hint: 'see the key: gpucloud api-keys list',
      cause: error,
      ...(error.httpStatus === undefined ? {} : { httpStatus: error.httpStatus }),
    },
  );
}
