import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openInBrowser } from '../../src/ssh/browser.ts';
import { atTerminal } from '../support/at-terminal.ts';
import { createWorld } from '../support/run-cli.ts';
import { no } from '../support/service.ts';

const LINK = 'http://203.0.113.7:8888/?token=f00dfeedf00dfeed';

test.each([
  [undefined, 302, LINK, ''],
  ['<p>Lab</p>', 200, null, '<p>Lab</p>'],
])(
  "answers only at the page's address, and doesn't write the token to disk: %s",
  async (page, ...answer) => {
    const world = await createWorld({ handler: () => no(500, 'unexpected') });
    const { context } = atTerminal(world, []);
    const visited: unknown[] = [];
    async function visit(path: string): Promise<boolean> {
      const page = await readFile(path, 'utf8');
      expect(page).not.toContain('f00dfeed');
      const [address = ''] = /http:[^"]+/.exec(page) ?? [];
      for (const url of [new URL('/', address), `${address}0`, address]) {
        const response = await fetch(url, { redirect: 'manual' });
        const { status, headers } = response;
        visited.push([status, headers.get('location'), await response.text()]);
        visited.push(headers.get('referrer-policy'), headers.get('content-type'));
      }
      return true;
    }
    // Never times out while waiting for the browser.
    const clock = { ...context.clock, sleep: () => new Promise<never>(() => undefined) };
    let visits: Promise<boolean> | undefined;
    const openFile = (path: string) => (visits = visit(path));
    const host = { ...context.host, openFile };
    expect(await openInBrowser(LINK, { ...context, clock, host }, page)).toBeUndefined();
    await visits;
    const nothing = [[404, null, ''], null, null];
    const type = page === undefined ? null : 'text/html; charset=utf-8';
    expect(visited).toEqual([...nothing, ...nothing, answer, 'no-referrer', type]);
  },
);

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
