import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { inTemporaryFolder } from '../system/temporary-folder.ts';

/** Milliseconds to wait for the browser's request. */
const PATIENCE = 30_000;

/**
 * Opens a link in the person's browser. Returns once the browser has requested the link, or returns
 * the reason why it did not.
 *
 * A link may hold a token, and every user of a computer can read a process's arguments. So the
 * browser gets the path of a page that only this user can read. The page leads to a loopback
 * address, which redirects to the link. The link itself is never on disk, and the page is deleted
 * as soon as the browser has used it. In the sandbox no server has the link's address, so `page` is
 * shown instead.
 */
export async function openInBrowser(
  url: string,
  context: Context,
  page?: string,
): Promise<string | undefined> {
  const signpost = await startSignpost(url, page);
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  try {
    return await inTemporaryFolder('gpucloud-open', async (folder) => {
      const page = join(folder, 'open.html');
      await writeFile(page, pageTo(signpost.address), { mode: 0o600 });
      const late = context.clock
        .sleep(PATIENCE, signal)
        .then(() => 'The browser did not open the link.');
      return Promise.race([signpost.passed, launch(page, context), late]);
    });
  } finally {
    over.abort();
    signpost.close();
  }
}

function pageTo(address: string): string {
  return `<!doctype html>
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${address}">
<a href="${address}">Continue</a>
`;
}

/** Starts the browser; it requests the link later. Resolves only if no browser starts. */
async function launch(page: string, { host }: Context): Promise<string> {
  if (await host.openFile?.(page)) await new Promise<never>(() => undefined);
  return 'No browser found.';
}

/** Redirects to the link once, from an address that only the page contains. */
async function startSignpost(url: string, page: string | undefined) {
  const path = `/${randomBytes(16).toString('hex')}`;
  let pass: () => void = () => undefined;
  const passed = new Promise<undefined>((resolve) => {
    pass = () => resolve(undefined);
  });
  const server = createServer((request, response) => {
    if (request.url !== path) {
      response.writeHead(404).end();
      return;
    }
    const headers = { 'referrer-policy': 'no-referrer', connection: 'close' };
    if (page === undefined) response.writeHead(302, { ...headers, location: url });
    else response.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8' });
    response.end(page, pass);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}${path}`,
    /** Resolves once a browser has been redirected. */
    passed,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
