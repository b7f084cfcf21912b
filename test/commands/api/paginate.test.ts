import { describe, expect, test } from 'vitest';
import { createWorld, type World } from '../../support/run-cli.ts';
import type { Answer, Handler } from '../../support/service.ts';

let world: World;

async function scripted(handler: Handler | Answer): Promise<void> {
  const own = typeof handler === 'function' ? handler : () => handler;
  world = await createWorld({ handler: own });
}

describe('--paginate', () => {
  const rows = [1, 2, 3, 4, 5].map((n) => ({ n }));
  const page = (path: string) => Number(new URL(path, 'http://x').searchParams.get('page') ?? 1);
  const slice = (at: number) => rows.slice((at - 1) * 2, at * 2);
  const meta: Record<string, (at: number) => unknown> = {
    whole: (at) => ({ total: 5, page: at, limit: 2, total_pages: 3 }),
    'total alone': () => ({ total: 5 }),
    'limit alone': () => ({ limit: 2 }),
  };

  test.each(Object.keys(meta))('follows pages with the meta %s', async (kind) => {
    await scripted(({ path }) => ({
      status: 200,
      body: { data: slice(page(path)), meta: meta[kind]?.(page(path)) },
    }));
    const result = await world.cli(['api', 'GET', '/x', '--paginate', '-o', 'jsonl']);
    expect(result.stdout).toBe(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    // Without a page count, only an empty page ends the list.
    expect(result.requests).toHaveLength(kind === 'whole' ? 3 : 4);
  });

  test('prints an empty list as [] with --paginate', async () => {
    await scripted({ status: 200, body: { data: [], meta: { total_pages: 0 } } });
    expect((await world.cli(['api', 'GET', '/x', '--paginate'])).stdout).toBe('[]\n');
  });

  test.each([
    ['an empty page', (at: number) => (at === 2 ? [] : slice(at)), 2],
    ['a short page', (at: number) => slice(at).slice(at === 3 ? 1 : 0), 4],
    ['a repeated page', () => slice(1), 2],
  ])('exits with 10 and leaves the array open after %s', async (_what, dataOf, given) => {
    await scripted(({ path }) => ({
      status: 200,
      body: { data: dataOf(page(path)), meta: meta.whole?.(page(path)) },
    }));
    const result = await world.cli(['api', 'GET', '/x', '--paginate']);
    expect(result.stderr).toContain(`reports 5 rows but returned ${given}, so the list is`);
    expect(() => JSON.parse(result.stdout)).toThrow();
  });

  test('reads on if a later page, or a documented list, has no meta', async () => {
    await scripted(({ path }) => {
      const at = page(path);
      return { status: 200, body: { data: slice(at), meta: at === 1 ? { total: 5 } : null } };
    });
    const later = await world.cli(['api', 'GET', '/x', '--paginate', '-o', 'jsonl']);
    expect(later).toMatchObject({ code: 0, stderr: '' });
    expect(later.stdout.trimEnd().split('\n')).toHaveLength(5);
    await world.close();
    await scripted(({ path }) => ({ status: 200, body: { data: slice(page(path)) } }));
    const listed = async (...argv: string[]) =>
      (await world.cli(['api', 'GET', ...argv, '--paginate', '-o', 'jsonl'])).stdout.split('\n');
    expect(await listed('/billing/transactions')).toHaveLength(6);
    // A page with more rows than its limit is the whole list.
    expect(await listed('/billing/transactions?limit=1')).toHaveLength(3);
    // Most undocumented lists have no pages.
    expect(await listed('/x')).toHaveLength(3);
  });

  test('leaves the JSON array unclosed if a page fails', async () => {
    await scripted(({ path }) =>
      page(path) === 1
        ? { status: 200, body: { data: slice(1), meta: meta.whole?.(1) } }
        : { status: 404, body: { message: 'gone' } },
    );
    const result = await world.cli(['api', 'GET', '/x', '--paginate']);
    expect(result.stdout).toBe('[\n  {\n    "n": 1\n  },\n  {\n    "n": 2\n  }');
  });

  test('stops --paginate at repeated or misnumbered pages', async () => {
    await scripted({ status: 200, body: { data: slice(1), meta: meta.whole?.(1) } });
    const result = await world.cli(['api', 'GET', '/x', '--paginate']);
    expect(result.requests).toHaveLength(2);
    await world.close();
    await scripted(({ path }) => ({
      status: 200,
      body: { data: page(path) === 1 ? slice(1) : [], meta: meta.whole?.(1) },
    }));
    await world.cli(['api', 'GET', '/x', '--paginate']);
    await world.close();
    await scripted({ status: 200, body: { data: { n: 1 } } });
    await world.cli(['api', 'GET', '/x', '--paginate']);
    await world.close();
    await scripted({ status: 401, body: { message: 'no' } });
    const refused = await world.cli(['api', 'GET', '/x', '--paginate']);
    expect(refused).toMatchObject({ code: 4, stdout: '{"message":"no"}' });
  });
});
