import { randomUUID } from 'node:crypto';
import { CliError } from '../errors.ts';
import type { Start } from '../programs.ts';
import type { KeyPlace } from './key.ts';
import { runKeyCommand } from './key-command.ts';
import { NoKeyring, openKeyring, SERVICE } from './keyring.ts';

interface KeysSettings {
  /** The program that asks the system's keyring; undefined where there is none. */
  readonly helper: (() => { file: string; args: readonly string[] }) | undefined;
  readonly start: Start;
  /** The first interrupt: what is asked ends by it. */
  readonly stop: AbortSignal;
  /** Gets what the command of a password manager says on its stderr. */
  complain(text: string): void;
}

/** The places where keys rest. */
export interface Keys {
  /**
   * The key of a profile. Throws CliError('authentication') where its place has none, or can't be
   * asked, and the reason of `stop`.
   */
  read(profile: string, place: KeyPlace): Promise<string>;
  /**
   * Puts a key into the system's keyring under an entry of its own, so that the entry it replaces
   * stands until the profile no longer names it. Throws CliError('storage') with the reason, and
   * the reason of `stop` where it was not kept for that.
   */
  putIntoKeyring(profile: string, key: string): Promise<KeyPlace & { kind: 'keyring' }>;
  /** Takes a key out of its place, where that is not config.json. Throws CliError('storage'). */
  remove(profile: string, place: KeyPlace | undefined): Promise<void>;
}

export function openKeys({ helper, start, stop, complain }: KeysSettings): Keys {
  const keyring = openKeyring(helper, start);
  const printed = new Map<string, Promise<string>>();

  /** Once in a run: it may ask for a passphrase or a touch. */
  function print(profile: string, argv: readonly string[]): Promise<string> {
    const command = JSON.stringify(argv);
    const key =
      printed.get(command) ??
      runKeyCommand(argv, `the profile "${profile}"`, start, stop, complain);
    printed.set(command, key);
    return key;
  }

  return {
    async read(profile, place) {
      if (place.kind === 'file') return place.key;
      if (place.kind === 'command') return await print(profile, place.argv);
      const key = await orExplain(
        keyring.get(place.entry).finally(() => stop.throwIfAborted()),
        (why) => notReadable(profile, why),
      );
      if (key === undefined) throw gone(profile, place.entry);
      return key;
    },

    async putIntoKeyring(profile, key) {
      const entry = `${profile} ${randomUUID().slice(0, 8)}`;
      await orExplain(
        keyring.set(entry, key).catch((error: unknown) => {
          // Ctrl-C ended its program, and is no fault of the keyring that the file would make up for.
          stop.throwIfAborted();
          throw error;
        }),
        (why) =>
          new CliError('storage', `The system keyring can't keep the key: ${why}.`, {
            hint: 'keep it in a file that only you may read: gpucloud login --store file',
          }),
      );
      return { kind: 'keyring', entry };
    },

    async remove(profile, place) {
      if (place?.kind !== 'keyring') return;
      await orExplain(
        keyring.delete(place.entry),
        (why) =>
          new CliError(
            'storage',
            `The profile "${profile}" no longer names its key, but the key could not be taken out of the system keyring: ${why}.`,
            {
              hint: `remove it with the keyring's own program: service ${SERVICE}, account "${place.entry}"`,
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
      hint: `unlock it and run the command again, or give the key anew: gpucloud login --profile ${profile} --store file`,
    },
  );
}

function gone(profile: string, entry: string): CliError {
  return new CliError(
    'authentication',
    `The key of the profile "${profile}" is not in the system keyring any more (service ${SERVICE}, account "${entry}").`,
    { hint: `give it anew: gpucloud login --profile ${profile}` },
  );
}
