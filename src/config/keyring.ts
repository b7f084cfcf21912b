import { faultOf } from '../files/error-code.ts';
import type { Start } from '../programs.ts';

interface Keyring {
  /** undefined where there is no such entry. Throws {@link NoKeyring}. */
  get(entry: string): Promise<string | undefined>;
  /** Puts the key there, and has seen it come out again. Throws {@link NoKeyring}. */
  set(entry: string, key: string): Promise<void>;
  /** Whether there was one. Throws {@link NoKeyring}. */
  delete(entry: string): Promise<boolean>;
}

/** The keyring could not be asked; the message says why, and never holds a key. */
export class NoKeyring extends Error {}

/** The service under which the entries stand in the keyring. */
export const SERVICE = 'gpucloud';

/** Milliseconds. A keyring that shows a window of its own may take longer than a command can. */
const PATIENCE = 3_000;

type Question =
  | { readonly op: 'get' | 'delete'; readonly account: string }
  | { readonly op: 'set'; readonly account: string; readonly key: string };

/** Asks through a process of its own (see src/keyring.ts), which is ended after three seconds. */
export function openKeyring(
  helper: (() => { file: string; args: readonly string[] }) | undefined,
  start: Start,
): Keyring {
  async function ask(question: Question): Promise<unknown> {
    if (helper === undefined) throw new NoKeyring('no keyring can be reached from here');
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
        running.isLate ? `it did not answer within ${PATIENCE / 1000} s` : withoutAnswer(complaint),
      );
    }
    if ('fault' in answer) throw new NoKeyring(words(answer.fault));
    return answer.found;
  }

  return {
    async get(account) {
      const found = await ask({ op: 'get', account });
      return typeof found === 'string' ? found : undefined;
    },
    async set(account, key) {
      await ask({ op: 'set', account, key });
    },
    delete: async (account) => (await ask({ op: 'delete', account })) === true,
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

/** The library is an optional part, which an install of gpucloud alone does not bring. */
function withoutAnswer(complaint: string): string {
  return /Cannot find (module|native binding)/.test(complaint)
    ? 'its library is not installed (npm install -g @napi-rs/keyring)'
    : 'its program gave no answer';
}

/** What D-Bus and others say of a system without a keyring is long and helps nobody. */
function words(fault: string): string {
  if (
    /autolaunch|DBUS_SESSION_BUS_ADDRESS|ServiceUnknown|not provided by any|No such file|Connection refused|\$DISPLAY/i.test(
      fault,
    )
  ) {
    return 'no secret service runs here';
  }
  if (/locked|dismissed/i.test(fault)) return 'it is locked';
  if (/did not receive a reply|timeout/i.test(fault)) return 'it did not answer';
  return fault.slice(0, 200);
}
