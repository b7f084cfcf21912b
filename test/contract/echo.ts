import { type Json, type Samples, samples } from '../openapi/samples.ts';
import type { Answer, Handler, RecordedRequest } from '../support/service.ts';

/** The kind of response to every request. */
export type Manner = 'well' | 'error' | 'page' | 'hang up';

export interface Echo {
  manner: Manner;
  readonly handler: Handler;
}

/** Matches fields that are part of paths, or contain a time or number. */
const PLAIN = /(^|_)id$|_at$|_until$|balance|price|amount|used_bytes|public_key/;
const NONE = /(?!)/;

/**
 * Responds to every documented request. `text` changes each string of its responses, except the
 * fields in `spared`. `words` creates its error messages.
 */
export function createEcho(
  text: (value: string) => string,
  words: (request: RecordedRequest) => string,
  more: (request: RecordedRequest) => Json = () => ({}),
  spared: 'plain' | 'none' = 'plain',
): Echo {
  const kept = bent(samples(), text, spared === 'plain' ? PLAIN : NONE) as Samples;
  const echo: Echo = {
    manner: 'well',
    handler(request) {
      switch (echo.manner) {
        case 'hang up':
          return 'hangUp';
        case 'page':
          return {
            status: 502,
            headers: { 'content-type': 'text/html' },
            body: `<html>${words(request)}`,
          };
        case 'error':
          return {
            status: 400,
            body: { statusCode: 400, message: words(request), error: words(request) },
          };
        default:
          return documented(request, kept, more(request));
      }
    },
  };
  return echo;
}

function bent(value: unknown, text: (value: string) => string, spared: RegExp, name = ''): unknown {
  if (typeof value === 'string') return spared.test(name) ? value : text(value);
  if (Array.isArray(value)) return value.map((item) => bent(item, text, spared, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, bent(inner, text, spared, key)]),
  );
}

function documented({ method, path }: RecordedRequest, all: Samples, more: Json): Answer {
  const code = method === 'POST' ? 201 : 200;
  const meta = { total: 1, page: 1, limit: 10, total_pages: 1 };
  const answer = (data: unknown): Answer => ({
    status: code,
    body: { status: 'success', code, data, ...(Array.isArray(data) ? { meta } : {}) },
  });
  const [plain = ''] = path.split('?');
  if (plain.endsWith('/events')) return answer(all.events);
  if (plain.startsWith('/instances')) return answer({ ...all.instance, ...more });
  if (plain === '/storage/drives' && method === 'GET') return answer(all.drives);
  if (plain.startsWith('/storage/drives')) return answer(all.drives[0]);
  if (plain === '/ssh-keys' && method === 'GET') return answer(all.sshKeys);
  if (plain.startsWith('/ssh-keys')) return answer(all.sshKeys[0]);
  if (plain === '/api-keys') return answer(method === 'GET' ? all.apiKeys : all.createdApiKey);
  if (plain.startsWith('/templates')) return answer(all.templates);
  if (plain === '/billing/transactions') return answer(all.transactions);
  if (plain.startsWith('/billing')) return answer(all.bonus);
  return answer(all.user);
}
