import type { Duplex } from 'node:stream';
import { type PageAt, serveForwards } from './forward.ts';
import { type Serving, serveSession } from './session.ts';
import { type Connection, type PublicKeyAuthContext, Server, utils } from './ssh2.ts';

/** Leaves out the ciphers that Bun lacks. */
const CIPHERS = ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr'] as const;

/** Returns a new host key. The library can't read about 1 in 400 of its own keys. */
export function newHostKey(): string {
  for (;;) {
    const key = utils.generateKeyPairSync('ed25519').private;
    if (!(utils.parseKey(key) instanceof Error)) return key;
  }
}

interface WithPages {
  readonly pageAt: PageAt;
}

/**
 * Serves one SSH connection over a stream, and resolves when it closes. Accepts only the instance's
 * public keys. Commands that are still running then continue, as with sshd.
 *
 * ssh starts this program for each connection (ProxyCommand), as inetd starts sshd. So no port is
 * open that another user of this computer could connect to, and no server has to outlive a command.
 */
export function serveSsh(stream: Duplex, serving: Serving & WithPages): Promise<void> {
  return new Promise((resolve) => {
    const server = new Server(
      {
        hostKeys: [serving.hostKey],
        ident: 'gpucloud-sandbox',
        algorithms: { cipher: [...CIPHERS] },
      },
      (client) => accept(client, serving),
    );
    stream
      .once('close', resolve)
      .once('end', resolve)
      .once('error', () => resolve());
    server.injectSocket(stream as Parameters<typeof server.injectSocket>[0]);
  });
}

function accept(client: Connection, serving: Serving & WithPages): void {
  const keys = serving.publicKeys.flatMap((line) => {
    const key = utils.parseKey(line);
    return key instanceof Error ? [] : [key];
  });
  client.on('authentication', (attempt) => {
    const isKnown = attempt.method === 'publickey' && keys.some((key) => fits(key, attempt));
    if (isKnown) attempt.accept();
    else attempt.reject(['publickey']);
  });
  client.on('session', (open) => {
    const session = open();
    // ssh2 knows a session without a command by its class's name, which the bundle shortens. It would
    // throw when such a connection ends.
    Object.defineProperty(session.constructor, 'name', { value: 'Session' });
    serveSession(session, serving);
  });
  serveForwards(client, serving.pageAt);
  // Ignores the error, since ssh itself reports it.
  client.on('error', () => undefined);
}

type PublicKey = Exclude<ReturnType<typeof utils.parseKey>, Error>;

function fits(key: PublicKey, attempt: PublicKeyAuthContext): boolean {
  const { data } = attempt.key;
  if (!data.equals(key.getPublicSSH())) return false;
  // A client without a signature only checks whether this key may sign in.
  if (attempt.signature === undefined || attempt.blob === undefined) return true;
  return key.verify(attempt.blob, attempt.signature, attempt.hashAlgo) === true;
}
