import { hider, MASK, withoutKeys } from '../../rules/secrets.ts';
import { oneLine, shortened } from '../response/message.ts';
import { masked } from '../response/secrets.ts';
import type { HttpResponse, WireRequest } from './exchange.ts';

const SHOWN_HEADERS = ['content-type', 'content-encoding', 'content-length', 'retry-after', 'date'];
const MOST_CHARACTERS = 20_000;

export interface Tracer {
  request(request: WireRequest): void;
  response(response: HttpResponse): void;
  fault(words: string): void;
}

/** Traces each request and response with secrets masked; shows only the size of a non-JSON body. */
export function createTracer(
  trace: (line: string) => void,
  origin: string,
  apiKey: string,
): Tracer {
  const secrets = new Set([apiKey]);
  const print = (mark: string, text: string) => {
    const hide = hider(secrets);
    const line = withoutKeys(hide(oneLine(hide(text))));
    trace(shortened(`${mark} ${line}`, MOST_CHARACTERS));
  };
  const body = (mark: string, text: string | undefined) => {
    if (!text) return;
    let shown: string;
    try {
      shown = JSON.stringify(masked(JSON.parse(text), secrets));
    } catch {
      shown = `(${Buffer.byteLength(text)} bytes that are not JSON)`;
    }
    print(mark, shown);
  };
  return {
    request(request) {
      print('>', `${request.method} ${origin}${request.path}`);
      for (const [name, value] of Object.entries(request.headers)) {
        print('>', `${name}: ${name.toLowerCase() === 'x-api-key' ? MASK : value}`);
      }
      body('>', request.body);
    },
    response(response) {
      print('<', `${response.status}${response.cut ? ' (cut off)' : ''}`);
      for (const name of SHOWN_HEADERS) {
        const value = response.headers[name];
        if (value !== undefined) print('<', `${name}: ${value}`);
      }
      body('<', response.text);
    },
    fault(words) {
      print('!', words);
    },
  };
}
