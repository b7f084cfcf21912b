import { AsyncEntry } from '@napi-rs/keyring';

/**
 * A program of its own, `dist/keyring.cjs`: one question to the system's keyring, on stdin and
 * stdout, so that no argument ever holds a key.
 *
 * It is a process because the keyring's library waits inside a call that nothing but the end of the
 * process ends: on a D-Bus that never answers it blocks for ever, timers and all. Whoever asks ends
 * the process after a while.
 */
interface Asked {
  readonly op: 'get' | 'set' | 'delete';
  readonly service: string;
  readonly account: string;
  readonly key?: string;
}

/** `found` is null for `get` of an entry that is not there, and false for `delete` of one. */
type Told = { readonly found: string | boolean | null } | { readonly fault: string };

/** Left to itself, the library falls back on a store of the kernel, which a restart empties. */
const ON_LINUX = { linux: { store: 'secret-service' } } as const;

async function answer({ op, service, account, key = '' }: Asked): Promise<Told> {
  try {
    const entry = new AsyncEntry(service, account, ON_LINUX);
    if (op === 'get') return { found: await entry.getPassword() };
    if (op === 'delete') return { found: await entry.deleteCredential() };
    await entry.setPassword(key);
    // What was not kept is told now, and not by the next command.
    const kept = (await entry.getPassword()) === key;
    return kept ? { found: true } : { fault: 'what was put in did not come out again' };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
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
