import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSandboxWorld, type SandboxWorld } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');

/** Returns the functions of a walk, each as `src/run.ts run`. */
function hopsOf(title: string): string[] {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(title)) ?? '';
  return [...section.matchAll(/^[0-9]+\. \[`(\w+)`\]\(\.\.\/(src\/[^)]+)\)/gm)].map(
    ([, name, file]) => `${file} ${name}`,
  );
}

/** Returns the functions of src/ that `work` calls, each as `src/run.ts run`. */
async function functionsOf(work: () => Promise<unknown>): Promise<Set<string>> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const called = new Set<string>();
    for (const { url, functions } of result) {
      const file = url.replace(/^file:\/\//, '');
      for (const { functionName, ranges } of functions) {
        if (file.startsWith(ROOT) && (ranges[0]?.count ?? 0) > 0) {
          called.add(`${file.slice(ROOT.length)} ${functionName}`);
        }
      }
    }
    return called;
  } finally {
    session.disconnect();
  }
}

let world: SandboxWorld;
beforeEach(async () => {
  world = await createSandboxWorld();
  await world.cli(['drives', 'create', 'datasets', '--size', '10', '--yes']);
});
afterEach(() => world.close());

test.each([
  ['`gpucloud drives get', ['drives', 'get', 'datasets', '--json'], 21],
  [
    '`gpucloud instances create',
    ['instances', 'create', 'trainer', ...HARDWARE, '--wait', '--json'],
    15,
  ],
  ['Tab', ['__complete', 'bash', 'gpucloud instances stop ', ''], 3],
])('runs each function of the walk through %s', async (title, argv, count) => {
  const hops = hopsOf(title);
  expect(hops).toHaveLength(count);
  const called = await functionsOf(async () => {
    expect(await world.cli(argv)).toMatchObject({ code: 0 });
  });
  // The test harness replaces main.
  expect(hops.filter((hop) => hop !== 'src/main.ts main' && !called.has(hop))).toEqual([]);
});
