import { describe, expect, test } from 'vitest';
import { createBoard } from '../../src/output/live/board.ts';
import { createEmulator } from './emulator.ts';

const lines = (...texts: string[]) => texts.map((text) => ({ text, over: false }));

describe('a board of lines', () => {
  test('is redrawn in place, and only where it changed', async () => {
    const { stream, screen, writes, cursor } = createEmulator(40, 10);
    stream.write('$ wait\n');
    const board = createBoard(stream);
    board.show(lines('a: CREATING', 'b: CREATING'));
    board.show(lines('a: CREATING', 'b: ACTIVE'));
    expect(await screen()).toBe('$ wait\na: CREATING\nb: ACTIVE');
    expect(await cursor()).toEqual({ x: 0, y: 3 });
    expect(writes.at(-1)).toContain('b: ACTIVE');
    expect(writes.at(-1)).not.toContain('a: CREATING');
    const count = writes.length;
    board.show(lines('a: CREATING', 'b: ACTIVE'));
    expect(writes).toHaveLength(count);
    board.show([]);
    expect(await screen()).toBe('$ wait');
    expect(writes.join('')).not.toContain('\u001b[?25l');
  });

  test('lets permanent lines pass above it', async () => {
    const { stream, screen } = createEmulator(40, 10);
    const board = createBoard(stream);
    board.show(lines('a: CREATING', 'b: CREATING'));
    board.above('warning: slow\n');
    expect(await screen()).toBe('warning: slow\na: CREATING\nb: CREATING');
  });

  test("says how many lines don't fit, and shows unfinished ones first", async () => {
    const { stream, screen, all } = createEmulator(40, 5);
    const board = createBoard(stream);
    const many = Array.from({ length: 9 }, (_, at) => ({ text: `box-${at}`, over: at < 4 }));
    board.show(many);
    board.show(many.map((line) => ({ ...line, text: `${line.text}!` })));
    expect(await screen()).toBe('box-4!\nbox-5!\nbox-6!\n… and 6 more');
    expect(await all()).toBe('box-4!\nbox-5!\nbox-6!\n… and 6 more');
  });

  test('leaves nothing behind when the window changes its width', async () => {
    const { stream, all, resize } = createEmulator(40, 12);
    stream.write('$ wait\n');
    const board = createBoard(stream);
    const long = 'box-a: PROVISIONING (100 s)';
    board.show(lines(long, 'b: ACTIVE'));
    resize(12, 12);
    board.show(lines(`${long}!`, 'b: ACTIVE'));
    expect(await all()).toBe('$ wait\nbox-a: PRO…\nb: ACTIVE');
    resize(60, 12);
    board.show(lines(`${long}!!`, 'b: ACTIVE'));
    expect(await all()).toBe(`$ wait\n${long}!!\nb: ACTIVE`);
  });

  test('draws nothing without columns', async () => {
    const { stream, writes } = createEmulator(40, 12);
    const board = createBoard(stream);
    Object.assign(stream, { columns: 0 });
    board.show(lines('a', 'b'));
    board.show(lines('a', 'c'));
    expect(writes.join('')).not.toMatch(/[abc]/);
  });
});
