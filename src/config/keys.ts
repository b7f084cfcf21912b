import { randomUUID } from 'node:crypto';
import { CliError } from '../errors.ts';
import { errorCode, faultOf } from '../system/error-code.ts';
import type { Start } from '../system/programs.ts';
import type { KeyPlace } from './file.ts';

interface KeysSettings {
  /** Program that accesses the system's keyring; undefined if there is none. */
  readonly helper: (() => { file: string; args: readonly string[] }) | undefined;
  readonly start: Start;
  /** First interrupt: stops access to the keyring and password managers. */
  readonly stop: AbortSignal;
  /** Receives the stderr of a password manager's command. */
  complain(text: string): void;
}

export type Keys = ReturnType<typeof openKeys>;

export function openKeys({ helper, start, stop, complain }: KeysSettings) {
  const keyring = openKeyring(helper, start);
  const printed = new Map<string, Promise<string>>();

  /** Runs the command at most once, since it may require a passphrase or a touch. */
  function print(profile: string, argv: readonly string[]): Promise<string> {
    const command = JSON.stringify(argv);
    const key =
      printed.get(command) ??
      runKeyCommand(argv, `the profile "${profile}"`, start, stop, complain);
    printed.set(command, key);
    return key;
  }

  return {
    /**
     * Reads a profile's key. Throws CliError('authentication') if the key is missing or unreadable,
     * and the reason of `stop`.
     */
    async read(profile: string, place: KeyPlace): Promise<string> {
      if (place.kind === 'file') return place.key;
      if (place.kind === 'command') return await print(profile, place.argv);
      const key = await orExplain(
        keyring.get(place.entry).finally(() => stop.throwIfAborted()),
        (why) => notReadable(profile, why),
      );
      if (key === undefined) throw gone(profile, place.entry);
      return key;
    },

    /**
     * Stores a key under a new keyring entry, so that the replaced key stays until no profile
     * refers to it. Throws CliError('storage') with the cause, and the reason of `stop`.
     */
    async putIntoKeyring(profile: string, key: string) {
      const entry = `${profile} ${randomUUID().slice(0, 8)}`;
      await orExplain(
        keyring.set(entry, key).catch((error: unknown) => {
          // Ctrl-C may have stopped the keyring program. That is not a keyring fault, so nothing
          // falls back to the file.
          stop.throwIfAborted();
          throw error;
        }),
        (why) =>
          new CliError('storage', `Could not save the key to the system keyring: ${why}.`, {
            hint: 'store it in a file (mode 0600): gpucloud login --store file',
          }),
      );
      return { kind: 'keyring', entry } as const;
    },

    /** Removes a key from the keyring. Throws CliError('storage'). */
    async remove(profile: string, place: KeyPlace | undefined): Promise<void> {
      if (place?.kind !== 'keyring') return;
      await orExplain(
        keyring.delete(place.entry),
        (why) =>
          new CliError(
            'storage',
            `Removed the key from profile "${profile}", but could not remove it from the system keyring: ${why}.`,
            {
              hint: `remove the key with the keyring's own program (service ${SERVICE}, account "${place.entry}")`,
            },
          ),
      );
    },
  };
}

async function orExplain<T>(call: Promise<T>, explain: (why: string) => CliError): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof NoKeyring ? explain(error.message) : error;
  }
}

function notReadable(profile: string, why: string): CliError {
  return new CliError(
    'authentication',
    `The key of the profile "${profile}" is in the system keyring, which can't be read: ${why}.`,
    {
      hint: `unlock the keyring and try again, or enter the key again: gpucloud login --profile ${profile} --store file`,
    },
  );
}

function gone(profile: string, entry: string): CliError {
  return new CliError(
    'authentication',
    `The key of the profile "${profile}" is no longer in the system keyring (service ${SERVICE}, account "${entry}").`,
    { hint: `enter the key again: gpucloud login --profile ${profile}` },
  );
}

/** Milliseconds: the user may have to type a passphrase or touch a token. */
const PATIENCE = 60_000;

/** Bytes, far more than any key has. */
const MOST = 64 * 1024;

/**
 * Runs a password manager's command and returns the first line of its output, since `pass` and
 * others print notes below. The command may prompt on the terminal. Its stderr goes to `complain`;
 * its output is never printed. Stops the command after a minute.
 *
 * Throws CliError('authentication'), or the reason of `stop`.
 */
export async function runKeyCommand(
  argv: readonly string[],
  whose: string,
  start: Start,
  stop: AbortSignal,
  complain: (text: string) => void,
): Promise<string> {
  const [file = '', ...args] = argv;
  let printed = '';
  const running = await start({
    file,
    args,
    keepsApiKey: true,
    timeout: PATIENCE,
    hear: (text, from) => {
      if (from === 'stderr') complain(text);
      else if (printed.length <= MOST) printed += text;
    },
  });
  const code = await running.ended.catch((error: unknown) => {
    const why = errorCode(error);
    throw failed(
      whose,
      why === 'ENOENT' ? `"${file}" is not on PATH` : `it can't be started (${why})`,
    );
  });
  stop.throwIfAborted();
  if (code !== 0) {
    throw failed(
      whose,
      running.isLate ? `it timed out after ${PATIENCE / 1000} s` : `it exited with code ${code}`,
    );
  }
  const key = printed.replace(/\n.*/s, '').trim();
  if (key === '') throw failed(whose, 'it printed nothing on its first line');
  return key;
}

function failed(whose: string, what: string): CliError {
  return new CliError('authentication', `The key command of ${whose} returned no key: ${what}.`, {
    hint: 'run the command by hand to see why, or store the key elsewhere: gpucloud login --store keyring|file',
  });
}

/** Why the keyring is unusable. The message contains no key. */
class NoKeyring extends Error {}

/** The service name of gpucloud's keyring entries. */
export const SERVICE = 'gpucloud';

/** Milliseconds. A keyring that opens its own window may take longer than a command can wait. */
const KEYRING_PATIENCE = 3_000;

type Question =
  | { readonly op: 'get' | 'delete'; readonly account: string }
  | { readonly op: 'set'; readonly account: string; readonly key: string };

/**
 * Starts a separate process for each call (see src/system/keyring.ts), and stops it after three seconds.
 * Every method throws {@link NoKeyring}.
 */
function openKeyring(
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
      timeout: KEYRING_PATIENCE,
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
          ? `it did not respond within ${KEYRING_PATIENCE / 1000} s`
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
    /** Stores the key and reads it back to verify it. */
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

/** Explains a missing library: it is optional and not part of gpucloud's package. */
function withoutAnswer(complaint: string): string {
  return /Cannot find (module|native binding)/.test(complaint)
    ? 'its library is not installed (npm install -g @napi-rs/keyring)'
    : 'its program returned nothing';
}

/** Shortens the long D-Bus messages of a system without a keyring. */
function words(fault: string): string {
  if (
    /autolaunch|DBUS_SESSION_BUS_ADDRESS|ServiceUnknown|not provided by any|No such file|Connection refused|\$DISPLAY/i.test(
      fault,
    )
  ) {
    return 'no secret service is running';
  }
  if (/locked|dismissed/i.test(fault)) return 'it is locked';
  if (/did not receive a reply|timeout/i.test(fault)) return 'it did not respond';
  return fault.slice(0, 200);
}
