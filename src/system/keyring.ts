import { AsyncEntry } from '@napi-rs/keyring';

/**
 * A separate program, `dist/keyring.cjs`. Passes one request to the system keyring over stdin and
 * stdout, so that no argument ever holds a key.
 *
 * It needs its own process because the keyring library blocks the whole process, timers included,
 * if D-Bus never responds. The caller kills it after a timeout.
 */
interface Asked {
  readonly op: 'get' | 'set' | 'delete';
  readonly service: string;
  readonly account: string;
  readonly key?: string;
}

/** `get` returns null for a missing entry; `delete` returns false. */
type Told = { readonly found: string | boolean | null } | { readonly fault: string };

/** By default the library falls back to a kernel store that is empty after a restart. */
const ON_LINUX = { linux: { store: 'secret-service' } } as const;

async function answer({ op, service, account, key = '' }: Asked): Promise<Told> {
  try {
    const entry = new AsyncEntry(service, account, ON_LINUX);
    if (op === 'get') return { found: await entry.getPassword() };
    if (op === 'delete') return { found: await entry.deleteCredential() };
    await entry.setPassword(key);
    // Read the key back, since a keyring may lose it without an error.
    const kept = (await entry.getPassword()) === key;
    return kept ? { found: true } : { fault: 'the keyring did not return the stored key' };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}

async function main(): Promise<void> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk;
  }
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(text) as Asked))}\n`);
}

void main();
