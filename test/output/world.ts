import { once } from 'node:events';
import { Writable } from 'node:stream';
import { createOutput } from '../../src/output/index.ts';
import type { Output, OutputSettings, View } from '../../src/output/output.ts';
import type { Clock } from '../../src/system/clock.ts';

/** The time at which all output in these tests is written. */
export const NOW = Date.parse('2026-03-01T12:00:00Z');

export const clock: Clock = {
  now: () => NOW,
  monotonic: () => 0,
  sleep: async () => undefined,
  random: () => 0.5,
};

/** A stream that records what was written to it. */
export class Page extends Writable {
  text = '';
  writes = 0;
  isTTY?: boolean;
  columns?: number;

  constructor(terminal?: { columns: number }) {
    super({ decodeStrings: false });
    if (terminal !== undefined) Object.assign(this, { isTTY: true, columns: terminal.columns });
  }

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.text += String(chunk);
    this.writes += 1;
    done();
    this.emit('written');
  }

  /** Resolves when the output contains the text. */
  async written(text: string): Promise<void> {
    while (!this.text.includes(text)) await once(this, 'written');
  }
}

/** A terminal's screen, which spinners and prompts redraw. */
export class Screen extends Page {
  cursorTo(): boolean {
    return true;
  }
  moveCursor(): boolean {
    return true;
  }
  clearLine(): boolean {
    return this.write('<clear>');
  }
}

export interface Instance {
  id: string | null;
  name: string;
  status: string;
  price: string;
  gpus: number;
  paid_until: string | null;
  used_bytes: string;
  size_gb: number;
  is_default: boolean;
  env?: unknown;
  link?: string;
}

export const instances: readonly Instance[] = [
  {
    id: 'a1b2',
    name: 'trainer',
    status: 'ACTIVE',
    price: '89.9',
    gpus: 1,
    paid_until: '2026-03-01T12:52:30Z',
    used_bytes: '1073741824',
    size_gb: 500,
    is_default: true,
  },
  {
    id: 'c3d4',
    name: 'Ночной бот',
    status: 'STOPPED',
    price: '1250.123456789012345678',
    gpus: 16,
    paid_until: null,
    used_bytes: '0',
    size_gb: 50,
    is_default: false,
  },
];

export const view: View<Instance> = {
  columns: [
    { id: 'id', header: 'ID', value: (row) => row.id },
    { id: 'name', header: 'NAME', value: (row) => row.name },
    { id: 'status', header: 'STATUS', kind: 'status', value: (row) => row.status },
    { id: 'price', header: 'PRICE/H', kind: 'money', value: (row) => row.price },
    { id: 'gpus', header: 'GPUS', value: (row) => row.gpus },
    { id: 'paid_until', header: 'PAID UNTIL', kind: 'time', value: (row) => row.paid_until },
    { id: 'used', header: 'USED', kind: 'bytes', hidden: true, value: (row) => row.used_bytes },
    { id: 'size', header: 'SIZE', kind: 'gigabytes', hidden: true, value: (row) => row.size_gb },
    { id: 'default', header: 'DEFAULT', kind: 'yes', hidden: true, value: (row) => row.is_default },
  ],
  id: (row) => row.id,
  empty: 'No instances yet.',
  secrets: ['env[].value'],
};

export interface Written {
  stdout: string;
  notes: string[];
  page: Page;
}

export interface Terminal {
  columns: number;
  colour?: boolean;
  env?: Record<string, string>;
}

/** Creates an Output with these settings that writes to this stream. */
export function outputOn(
  stdout: Writable & { isTTY?: boolean; columns?: number },
  settings: Partial<OutputSettings>,
  terminal?: Terminal,
  note: (text: string) => void = () => undefined,
): Output {
  return createOutput({
    stdout,
    env: terminal?.env ?? {},
    clock,
    settings: { format: 'table', header: true, showSecrets: false, ...settings },
    colour: terminal?.colour === true,
    note,
  });
}

/** Writes with these settings and returns the output. */
export async function written(
  settings: Partial<OutputSettings>,
  act: (out: Output) => Promise<void>,
  terminal?: Terminal,
): Promise<Written> {
  const page = new Page(terminal);
  const notes: string[] = [];
  await act(outputOn(page, settings, terminal, (text) => notes.push(text)));
  return { stdout: page.text, notes, page };
}

export async function* streamed<T>(rows: Iterable<T>): AsyncGenerator<T> {
  for (const row of rows) yield row;
}
