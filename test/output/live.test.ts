import { describe, expect, test } from 'vitest';
import { createOutput } from '../../src/output/index.ts';
import type { Foot, Live, Output, OutputSettings, View } from '../../src/output/output.ts';
import { gpucloud } from '../../src/output/shell-line.ts';
import { turns } from '../support/until.ts';
import { createEmulator, type Emulator } from './emulator.ts';

import { clock, Page } from './world.ts';

interface Row {
  name: string;
  status: string;
}

const view: View<Row> = {
  columns: [
    { id: 'name', header: 'NAME', value: (row) => row.name },
    { id: 'status', header: 'STATUS', kind: 'status', value: (row) => row.status },
  ],
  id: (row) => row.name,
  empty: 'None.',
};

function outputOn(
  stdout: Page | Emulator['stream'],
  more: Partial<OutputSettings> = {},
  env = {},
  borrowScreen?: () => () => void,
) {
  return createOutput({
    ...(borrowScreen === undefined ? {} : { borrowScreen }),
    stdout,
    env,
    clock,
    profile: 'work',
    colour: false,
    note: () => undefined,
    settings: { format: 'table', header: true, showSecrets: false, ...more },
  });
}

async function liveOn(emulator: Emulator): Promise<Live> {
  emulator.stream.write('$ watch\n');
  const live = await outputOn(emulator.stream).live();
  if (live === undefined) throw new Error('it redraws nothing there');
  return live;
}

const rows = (...statuses: string[]) =>
  statuses.map((status, at) => ({ name: `box-${at}`, status }));
const table = (all: readonly Row[]) => (out: Output) => out.list(all, view);
const foot = (text: string) => (): Foot[] => [{ text }];

describe('a live view', () => {
  test('redraws only the changed lines, in one write', async () => {
    const emulator = createEmulator(40, 10);
    const live = await liveOn(emulator);
    await live.draw(table(rows('ACTIVE', 'CREATING')), foot('now'));
    expect(await emulator.screen()).toBe('NAME   STATUS\nbox-0  ACTIVE\nbox-1  CREATING\n\nnow');
    const before = emulator.writes.length;
    await live.draw(table(rows('ACTIVE', 'ACTIVE')), foot('now'));
    expect(emulator.writes.slice(before)).toEqual([expect.stringContaining('box-1')]);
    expect(emulator.writes.at(-1)).not.toContain('box-0');
    expect(emulator.writes.at(-1)).not.toContain('STATUS');
    await live.draw(table(rows('ACTIVE', 'ACTIVE')), foot('now'));
    expect(emulator.writes).toHaveLength(before + 1);
    expect(await emulator.cursor()).toEqual({ x: 0, y: 5 });
  });

  test('never hides the cursor during a live view', async () => {
    const emulator = createEmulator(40, 10);
    const live = await liveOn(emulator);
    await live.draw(table(rows('ACTIVE')), foot('now'));
    await live.end();
    expect(emulator.writes.join('')).not.toContain('\u001b[?25');
  });

  test('leaves the last frame on the screen, with the cursor below it', async () => {
    const emulator = createEmulator(40, 10);
    const live = await liveOn(emulator);
    await live.draw(table(rows('CREATING')), foot('now'));
    await live.draw(table(rows('ACTIVE')), foot('then'));
    await live.end();
    await live.end();
    expect(await emulator.all()).toBe('$ watch\nNAME   STATUS\nbox-0  ACTIVE\n\nthen');
    expect(await emulator.cursor()).toEqual({ x: 0, y: 5 });
  });

  test('restores the screen when a live view ends', async () => {
    const emulator = createEmulator(40, 10);
    let isBorrowed = false;
    const borrowScreen = () => {
      isBorrowed = true;
      return () => {
        isBorrowed = false;
      };
    };
    const live = await outputOn(emulator.stream, {}, {}, borrowScreen).live();
    await live?.draw(table(rows('ACTIVE')), foot('now'));
    expect(isBorrowed).toBe(true);
    await live?.end();
    expect(isBorrowed).toBe(false);
  });

  test('shows the screen of the shell during Ctrl-Z, and the frame after it', async () => {
    const emulator = createEmulator(40, 10);
    emulator.stream.write('$ watch\n');
    const given: (() => void)[] = [];
    const borrowScreen = (...both: (() => void)[]) => {
      given.push(...both);
      return () => undefined;
    };
    const live = await outputOn(emulator.stream, {}, {}, borrowScreen).live();
    const [leave, back] = given;
    leave?.();
    expect(emulator.writes).toEqual(['$ watch\n']);
    await live?.draw(table(rows('ACTIVE')), foot('now'));
    leave?.();
    expect(await emulator.screen()).toBe('$ watch');
    back?.();
    await live?.refresh();
    expect(await emulator.screen()).toBe('NAME   STATUS\nbox-0  ACTIVE\n\nnow');
    leave?.();
    await live?.end();
    expect(await emulator.all()).toBe('$ watch');
  });

  test("counts the lines that don't fit, and prints all lines at the end", async () => {
    const emulator = createEmulator(40, 6);
    const live = await liveOn(emulator);
    const many = rows(...Array.from({ length: 20 }, () => 'ACTIVE'));
    await live.draw(table(many), foot('now'));
    expect(await emulator.screen()).toBe(
      'NAME    STATUS\nbox-0   ACTIVE\nbox-1   ACTIVE\n… 18 more lines below the screen\nnow',
    );
    await live.end();
    expect(await emulator.all()).toContain('box-19');
  });

  test('fills a screen to its last line, and erases a line that is gone', async () => {
    const emulator = createEmulator(40, 5);
    const live = await liveOn(emulator);
    await live.draw(table(rows('ACTIVE', 'ACTIVE')), foot('now'));
    const two = 'NAME   STATUS\nbox-0  ACTIVE\nbox-1  ACTIVE';
    expect(await emulator.screen()).toBe(`${two}\nnow`);
    await live.draw(table(rows('ACTIVE', 'ACTIVE')), () => []);
    expect(await emulator.screen()).toBe(two);
  });

  test.each([
    [20, 10],
    [80, 30],
    [10, 4],
    [6, 2],
  ])(
    'fits a frame into %i columns and %i rows, and erases the old frame',
    async (columns, height) => {
      const emulator = createEmulator(40, 10);
      const live = await liveOn(emulator);
      await live.draw(table(rows('ACTIVE', 'PROVISIONING')), foot('read now, again and again'));
      emulator.resize(columns, height);
      await live.refresh();
      const fresh = createEmulator(columns, height);
      const other = await liveOn(fresh);
      await other.draw(table(rows('ACTIVE', 'PROVISIONING')), foot('read now, again and again'));
      expect(await emulator.screen()).toBe(await fresh.screen());
      expect((await emulator.screen()).split('\n').length).toBeLessThan(height + 1);
    },
  );

  test('rewrites every line of a live view after a resize', async () => {
    const emulator = createEmulator(40, 10);
    const live = await liveOn(emulator);
    await live.draw(table(rows('ACTIVE')), foot('now'));
    const before = emulator.writes.length;
    emulator.resize(40, 9);
    // Nobody asks for a frame.
    await turns();
    const written = emulator.writes.slice(before).join('');
    expect(written).toContain('box-0  ACTIVE');
    expect(written).toContain('now');
  });

  test("truncates the hidden-line count to the window's width", async () => {
    const emulator = createEmulator(20, 4);
    const live = await liveOn(emulator);
    await live.draw(table(rows('ACTIVE', 'ACTIVE', 'ACTIVE', 'ACTIVE')), foot('now'));
    expect(await emulator.screen()).toMatch(/^… \d more lines belo…$/m);
  });

  test('skips frames while the window has no width, then continues', async () => {
    const emulator = createEmulator(40, 10);
    const live = await liveOn(emulator);
    await live.draw(table(rows('CREATING')), foot('now'));
    Object.assign(emulator.stream, { columns: 0 });
    emulator.stream.emit('resize');
    const before = emulator.writes.length;
    await live.draw(table(rows('ACTIVE')), foot('now'));
    expect(emulator.writes).toHaveLength(before);
    emulator.resize(40, 10);
    await live.refresh();
    expect(await emulator.screen()).toContain('box-0  ACTIVE');
  });

  test.each([
    [
      'the rows go',
      (emulator: Emulator) => void Object.assign(emulator.stream, { rows: undefined }),
    ],
    [
      'the columns go',
      (emulator: Emulator) => void Object.assign(emulator.stream, { columns: undefined }),
    ],
    ['the view ends', (_emulator: Emulator, live: Live) => live.end()],
  ])('draws no frame if %s while it is rendered', async (_what, change) => {
    const emulator = createEmulator(40, 10);
    const live = await liveOn(emulator);
    await live.draw(async (out) => {
      await out.list(rows('ACTIVE'), view);
      await change(emulator, live);
    }, foot('now'));
    await live.end();
    expect(emulator.writes).toEqual(['$ watch\n']);
  });

  test('ends once the terminal closes', async () => {
    const emulator = createEmulator(40, 10);
    const live = await liveOn(emulator);
    expect(live.ended).toBe(false);
    emulator.stream.destroy();
    await live.draw(table(rows('ACTIVE')), foot('now'));
    expect(live.ended).toBe(true);
  });

  test('shows the note of an empty table, and prints it without a foot at the end', async () => {
    const emulator = createEmulator(40, 10);
    const live = await liveOn(emulator);
    await live.draw(
      (out) => out.list([], { ...view, empty: `None: ${gpucloud('run')}` }),
      () => [],
    );
    expect(await emulator.screen()).toBe('None: gpucloud --profile work run');
    await live.end();
    expect(emulator.writes.at(-1)).toBe('\u001b[?1049lNone: gpucloud --profile work run\n');
  });

  test('shows the only line on a screen of two', async () => {
    const emulator = createEmulator(40, 2);
    const live = await liveOn(emulator);
    await live.draw((out) => out.list([], view), foot('now'));
    expect(await emulator.screen()).toBe('None.');
  });

  test("removes the service's control characters from a frame", async () => {
    const emulator = createEmulator(60, 10);
    const live = await liveOn(emulator);
    const hostile = { name: 'a\u001b[2J\u001b]0;x\u0007b', status: 'A\u202eB\nC' };
    await live.draw(table([hostile]), foot('fault: \u001b[31mred\n\u001b[2J'));
    expect(await emulator.screen()).toBe('NAME  STATUS\nab    AB C\n\nfault: red');
  });

  test.each([
    ['in a pipe', () => outputOn(new Page())],
    ['on a dumb terminal', () => outputOn(createEmulator(40, 10).stream, {}, { TERM: 'dumb' })],
    [
      'without columns',
      () => outputOn(Object.assign(createEmulator(40, 10).stream, { columns: 0 })),
    ],
    ...[{ rows: 0 }, { rows: undefined }, { columns: undefined }].map(
      (size): [string, () => Output] => [
        `with ${JSON.stringify(size)}`,
        () => outputOn(Object.assign(createEmulator(40, 10).stream, size as never)),
      ],
    ),
    ['in JSON lines', () => outputOn(createEmulator(40, 10).stream, { format: 'jsonl' })],
  ])('shows no live view %s', async (_where, out) => {
    expect(await out().live()).toBeUndefined();
  });
});
