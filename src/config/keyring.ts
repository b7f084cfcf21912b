import { faultOf } from '../files/error-code.ts';
import type { Start } from '../programs.ts';

/** The keyring is unusable; the message says why and contains no key. */
export class NoKeyring extends Error {}

/** The service name of our keyring entries. */
export const SERVICE = 'gpucloud';

/** Milliseconds. A keyring with its own window may take longer than a command can wait. */
const PATIENCE = 3_000;

type Question =
  | { readonly op: 'get' | 'delete'; readonly account: string }
  | { readonly op: 'set'; readonly account: string; readonly key: string };

/**
 * Starts a separate process for each call (see src/keyring.ts), which is ended after three seconds.
 * Every method throws {@link NoKeyring}.
 */
export function openKeyring(
  helper: (() => { file: string; args: readonly string[] }) | undefined,
  start: Start,
) {
  async function ask(question: Question): Promise<unknown> {
    if (helper === undefined) throw new NoKeyring('no keyring is available');
    let output = '';
    let complaint = '';
    const running = await start({
      ...helper(),
      say: JSON.stringify({ ...question, service: SERVICE }),
      timeout: PATIENCE,
      hear: (text, from) => {
        if (from === 'stdout') output += text;
        else complaint += text;
      },
    });
    await running.ended.catch((error: unknown) => {
      throw new NoKeyring(`its program can't be started (${faultOf(error)})`);
    });
    const answer = parsed(output);
    if (answer === undefined) {
      throw new NoKeyring(
        running.isLate
          ? `it did not respond within ${PATIENCE / 1000} s`
          : withoutAnswer(complaint),
      );
    }
    if ('fault' in answer) throw new NoKeyring(words(answer.fault));
    return answer.found;
  }

  return {
    /** Returns undefined if the entry is missing. */
    async get(account: string) {
      const found = await ask({ op: 'get', account });
      return typeof found === 'string' ? found : undefined;
    },
    /** Stores the key and reads it back. */
    async set(account: string, key: string) {
      await ask({ op: 'set', account, key });
    },
    delete: async (account: string) => (await ask({ op: 'delete', account })) === true,
  };
}

function parsed(text: string): { fault: string } | { found: unknown } | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer !== 'object' || answer === null) return undefined;
    if ('fault' in answer) return { fault: String(answer.fault) };
    return 'found' in answer ? { found: answer.found } : undefined;
  } catch {
    return undefined;
  }
}

/** The library is optional and not part of gpucloud's package. */
function withoutAnswer(complaint: string): string {
  return /Cannot find (module|native binding)/.test(complaint)
    ? 'its library is not installed (npm install -g @napi-rs/keyring)'
    : 'its program returned nothing';
}

/** Shortens long D-Bus messages about a system without a keyring. */
function words(fault: string): string {
  if (
    /autolaunch|DBUS_SESSION_BUS_ADDRESS|ServiceUnknown|not provided by any|No such file|Connection refused|\$DISPLAY/i.test(
      fault,
    )
  ) {
    return 'no secret service runs here';
  }
  if (/locked|dismissed/i.test(fault)) return 'it is locked';
  if (/did not receive a reply|timeout/i.test(fault)) return 'it did not respond';
  return fault.slice(0, 200);
}
