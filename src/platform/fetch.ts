type Environment = Readonly<Record<string, string | undefined>>;

/** Sends a GET. Follows no redirect, and leaves the body as it arrives. */
export type Fetch = (
  url: string,
  request: { headers: Record<string, string>; signal: AbortSignal },
) => Promise<Response>;

/** Bun would otherwise unpack bodies, end after five minutes, and print keys if a variable asks for it. */
const OF_BUN = { decompress: false, timeout: false, verbose: false };

/**
 * Returns the HTTP client of the executable's runtime, which needs no loading. Bun chooses a proxy by
 * other rules than curl, so returns undefined if the environment names one.
 */
export function runtimeFetch(env: Environment): Fetch | undefined {
  if (Object.keys(env).some((name) => /_proxy$/i.test(name))) return undefined;
  return (url, request) => fetch(url, { ...request, ...OF_BUN, redirect: 'manual' });
}
