import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from './ssh-world.ts';

/** A visit that the browser from {@link installBrowser} recorded. */
export interface Visit {
  readonly argv: readonly string[];
  readonly hasApiKey: boolean;
  /** The HTML of the start page. `modes` are the file modes of the page and its folder. */
  readonly page: string;
  readonly modes: readonly number[];
  /** The redirect's target, or null if the link itself showed a page. */
  readonly location: string | null;
  readonly shown: string;
}

export interface Browser {
  /** The folder with `xdg-open`, for PATH. */
  readonly bin: string;
  /** Waits for the browser's record, since gpucloud exits as soon as the browser is redirected. */
  visit(): Promise<Visit>;
}

/** Requests the link of a page as a browser would, and returns where it leads. */
export async function redirectOf(page: string): Promise<string> {
  const [, link = ''] = /url=([^"]+)"/.exec(readFileSync(page, 'utf8')) ?? [];
  const { headers } = await fetch(link, { redirect: 'manual' });
  return headers.get('location') ?? 'nowhere';
}

/** Installs a browser that reads its start page and follows the link. */
export async function installBrowser(home: string): Promise<Browser> {
  const bin = join(home, 'bin');
  const seen = join(home, 'visit.json');
  await mkdir(bin, { recursive: true });
  await writeFile(
    join(bin, 'browser.mjs'),
    `import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
const [page] = process.argv.slice(2);
const text = readFileSync(page, 'utf8');
const [, address] = /url=([^"]+)"/.exec(text);
const modes = [page, dirname(page)].map((path) => statSync(path).mode & 0o777);
const response = await fetch(address, { redirect: 'manual' });
const location = response.headers.get('location');
const shown = await response.text();
const argv = process.argv.slice(2);
const hasApiKey = 'GPUCLOUD_API_KEY' in process.env;
const seen = ${JSON.stringify(seen)};
writeFileSync(seen + '.new', JSON.stringify({ argv, hasApiKey, page: text, modes, location, shown }));
renameSync(seen + '.new', seen);
if (location !== null) await fetch(location, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
`,
  );
  await writeFile(
    join(bin, 'xdg-open'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(bin, 'browser.mjs')}" "$1"\n`,
  );
  await chmod(join(bin, 'xdg-open'), 0o755);
  return {
    bin,
    async visit() {
      await until(() => existsSync(seen));
      return JSON.parse(readFileSync(seen, 'utf8'));
    },
  };
}
