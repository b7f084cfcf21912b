import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openInBrowser } from '../../src/ssh/browser.ts';
import { atTerminal } from '../support/at-terminal.ts';
import { createWorld } from '../support/run-cli.ts';
import { no } from '../support/service.ts';

const LINK = 'http://203.0.113.7:8888/?token=f00dfeedf00dfeed';

test("redirects to the link only at the page's address, and doesn't write the token to disk", async () => {
  const world = await createWorld({ handler: () => no(500, 'unexpected') });
  const { context } = atTerminal(world, []);
  const visited: unknown[] = [];
  async function visit(path: string): Promise<boolean> {
    const page = await readFile(path, 'utf8');
    expect(page).not.toContain('f00dfeed');
    const [address = ''] = /http:[^"]+/.exec(page) ?? [];
    for (const url of [new URL('/', address), `${address}0`, address]) {
      const { status, headers } = await fetch(url, { redirect: 'manual' });
      visited.push(status, headers.get('location'), headers.get('referrer-policy'));
    }
    return true;
  }
  // Never times out while waiting for the browser.
  const clock = { ...context.clock, sleep: () => new Promise<never>(() => undefined) };
  let visits: Promise<boolean> | undefined;
  const openFile = (path: string) => (visits = visit(path));
  const host = { ...context.host, openFile };
  expect(await openInBrowser(LINK, { ...context, clock, host })).toBeUndefined();
  await visits;
  expect(visited).toEqual([404, null, null, 404, null, null, 302, LINK, 'no-referrer']);
});

test.each([
  ['no browser starts', false, 'No browser found.'],
  ['the browser does not open the page', true, 'The browser did not open the link.'],
])('says why the link was not opened: %s', async (_why, starts, reason) => {
  const world = await createWorld({ handler: () => no(500, 'unexpected') });
  const { context } = atTerminal(world, []);
  const slept: number[] = [];
  const sleep = async (milliseconds: number) => {
    slept.push(milliseconds);
    if (!starts) await new Promise<never>(() => undefined);
  };
  const clock = { ...context.clock, sleep };
  const host = { ...context.host, openFile: async () => starts };
  expect(await openInBrowser(LINK, { ...context, clock, host })).toBe(reason);
  expect(slept).toEqual([30_000]);
});
