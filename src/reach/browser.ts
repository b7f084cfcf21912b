import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';

/** Milliseconds after which a browser that requested nothing is given up. */
const PATIENCE = 30_000;

/**
 * Opens a link in the person's browser and returns once the browser has requested it.
 *
 * A link may hold a token, and every user of a computer can read the arguments of a process. So the
 * browser is started with a loopback address that can't be guessed, which redirects once.
 */
export async function openInBrowser(url: string, context: Context): Promise<void> {
  const signpost = await startSignpost(url);
  const waited = new AbortController();
  try {
    const { default: open } = await import('open');
    const child = await open(signpost.address);
    const failed = new Promise<never>((_resolve, reject) => child.once('error', reject));
    const late = context.clock.sleep(PATIENCE, AbortSignal.any([context.signal, waited.signal]));
    await Promise.race([signpost.passed, failed, late.then(tooLate)]);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError('refused', `The browser could not be started: ${reason}`, {
      hint: 'print the link instead: --print',
      cause: error,
    });
  } finally {
    waited.abort();
    signpost.close();
  }
}

function tooLate(): never {
  throw new CliError('deadline', 'No browser has asked for the link.', {
    hint: 'print it instead: --print',
  });
}

interface Signpost {
  readonly address: string;
  /** Resolves when a browser was sent on. */
  readonly passed: Promise<void>;
  close(): void;
}

async function startSignpost(url: string): Promise<Signpost> {
  const path = `/${randomBytes(16).toString('hex')}`;
  let pass: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  const server = createServer((request, response) => {
    if (request.url !== path) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(302, {
      location: url,
      'referrer-policy': 'no-referrer',
      connection: 'close',
    });
    response.end(pass);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}${path}`,
    passed,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
