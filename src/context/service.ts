import { type Api, type ApiSettings, createApi, type Observed } from '../api/index.ts';
import { notSignedIn, refusedKeyRemedy } from '../config/remedies.ts';
import type { Settings } from '../config/resolve.ts';
import { isOfOneReading, usageError } from '../errors.ts';
import { lazy } from '../lazy.ts';
import type { Context, GlobalFlags, Host, ServiceAddress } from './contract.ts';
import type { ServiceClock } from './service-clock.ts';
import type { SettingsRoom } from './settings.ts';

/** Milliseconds per call; `--timeout` overrides it. */
export const DEFAULT_TIMEOUT_MS = 60_000;

interface ServiceParts {
  readonly host: Host;
  readonly flags: GlobalFlags;
  readonly version: string;
  readonly settings: SettingsRoom;
  readonly err: Context['err'];
  /** Receives each key that is sent. */
  readonly ownKeys: Set<string>;
  readonly sandbox: Context['sandbox'];
  readonly serviceClock: ServiceClock;
  /** Whether the active key has been seen to belong to the profile's account. */
  isKeyKnown(): Promise<boolean>;
  /** Receives each successful operation of the configured service. */
  observe(seen: Observed): Promise<void>;
}

/** Opens the service with the configured key and address, or with others. */
export function createService(parts: ServiceParts) {
  const { host, flags, version, settings, err, ownKeys, sandbox, serviceClock } = parts;
  const { isKeyKnown, observe } = parts;
  const { env, clock, interrupts } = host;
  const closers: (() => Promise<void>)[] = [];

  /** Prints each warning once, since hundreds of instances may share an odd field. */
  const warned = new Set<string>();
  const warnOnce = (text: string) => {
    if (!warned.has(text))
      err.warn('odd_response', `${text} Run again with --debug to see the raw response.`);
    warned.add(text);
  };

  /** `proxies` are the environment variables that configure proxies. */
  async function connect(
    { baseUrl, apiKey }: ServiceAddress,
    proxies: Host['env'],
    own: Pick<ApiSettings, 'observe' | 'keyRemedy' | 'preflight'> = {},
  ): Promise<Api> {
    ownKeys.add(apiKey);
    const api = createApi({
      baseUrl,
      apiKey,
      timeoutMs: flags.timeout ?? DEFAULT_TIMEOUT_MS,
      clock,
      signal: interrupts.first,
      env: proxies,
      userAgent: `gpucloud/${version}`,
      ...(host.nodeVersion === undefined ? {} : { nodeVersion: host.nodeVersion }),
      warn: warnOnce,
      onDate: serviceClock.learn,
      ...own,
      ...(flags.debug === true ? { trace: (line: string) => err.debug(line) } : {}),
    });
    closers.push(() => api.close());
    return api;
  }

  /** Whether the built-in profile's own server runs, on a loopback port, during this command. */
  let isServing = false;
  const selfServed = lazy(async () => {
    isServing = true;
    const own = await sandbox();
    const server = await own.listen({ port: 0 });
    closers.push(() => server.close());
    serviceClock.set(Date.parse((await own.status()).now));
    return { baseUrl: server.url, apiKey: server.apiKey };
  });

  let isKeyRefused = false;
  const connected = lazy(async () => {
    const found = await settings.settings();
    if (found.sandbox) {
      await settings.warnOfEnv();
      return connect(await selfServed(), {}, { observe });
    }
    const { baseUrl, apiKey } = found;
    if (apiKey === undefined) {
      throw notSignedIn(found, await (await settings.config()).read(), host.env);
    }
    if (baseUrl === undefined) {
      throw usageError('--base-url (or GPUCLOUD_BASE_URL) is missing');
    }
    await settings.warnOfEnv();
    const address = { baseUrl: baseUrl.value, apiKey: apiKey.value };
    const keyRemedy = (status: number) => {
      isKeyRefused ||= status === 401;
      return refusedKeyRemedy(found);
    };
    const preflight = lazy(() => checkKey(found, api));
    const api = await connect(address, env, { observe, keyRemedy, preflight });
    return api;
  });

  /**
   * Requests the account of a key that replaced the profile's key without a login, such as a
   * changed key command. `observe` compares and stores it. A service that can't say stops no
   * command, since one of them may terminate an instance; what rents or creates a drive asks again.
   */
  async function checkKey({ account }: Settings, api: Api): Promise<void> {
    if (account === undefined || (await isKeyKnown())) return;
    try {
      await api.users.me();
    } catch (error) {
      if (!isOfOneReading(error)) throw error;
      err.warn('incomplete', `Could not check whose API key this is: ${error.message}`);
    }
  }

  return {
    connected,
    isKeyRefused: () => isKeyRefused,
    apiFor: (target: ServiceAddress) => connect(target, env),
    /** Closes connections and this process's sandbox server. */
    async close() {
      // The system closes connections when the process exits, but a sandbox server must save its
      // state.
      if (host.endsAtOnce === true && !isServing) return;
      // Closes each client before its server.
      for (const close of closers.reverse()) await close();
    },
  };
}
