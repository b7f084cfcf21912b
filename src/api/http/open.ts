import type { Fetch } from '../../platform/fetch.ts';
import { decode, type HttpResponse, MOST_BYTES } from './body.ts';
import { Fault } from './fault.ts';
import type { Transport } from './transport.ts';

interface TransportSettings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nodeVersion?: string | undefined;
  readonly fetch?: Fetch | undefined;
}

/**
 * Opens the way to a service at the first request. undici loads then, since it costs more than the
 * rest of a command.
 *
 * In the executable, the runtime's own client reads: with undici, a `get` takes half as long again.
 * Requests that may change something always go through undici, which reports when they leave. A read
 * that fails is tried again through undici too, which knows the reason.
 *
 * @throws CliError `usage` at the first request if the environment names an unusable proxy.
 */
export function openTransport(
  target: URL,
  { env, nodeVersion, fetch }: TransportSettings,
): Transport {
  const closing = new AbortController();
  let opened: Promise<Transport> | undefined;
  const undici = () => {
    opened ??= import('./transport.ts').then(({ createTransport }) =>
      createTransport(target, env, nodeVersion),
    );
    return opened;
  };
  let hasFailed = false;

  return {
    async exchange(request, signal, onSending) {
      const { method, path, headers } = request;
      if (fetch === undefined || hasFailed || method !== 'GET') {
        return (await undici()).exchange(request, signal, onSending);
      }
      onSending();
      const stop = AbortSignal.any([signal, closing.signal]);
      try {
        const how = { headers: { ...headers }, signal: stop };
        return await wholeOf(await fetch(`${target.origin}${path}`, how));
      } catch {
        hasFailed = true;
        throw new Fault('the connection failed', { sent: true, stopped: stop.aborted });
      }
    },
    async close() {
      closing.abort();
      await opened?.then(
        (transport) => transport.close(),
        () => undefined,
      );
    },
  };
}

/** @throws Error for a body that is cut off or too large. */
async function wholeOf({ status, headers, body }: Response): Promise<HttpResponse> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return decode({ status, headers: Object.fromEntries(headers) }, Buffer.concat(chunks));
}
