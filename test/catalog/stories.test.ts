import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Catalog, openCatalog, type SeenInstance } from '../../src/catalog/index.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { manualClock } from '../support/clock.ts';

// Compares what each step returns, warns and stores. Each step is a process of its own.

const BOX = {
  price_per_hour_snapshot: '9.50',
  created_at: '2026-01-15T11:00:00Z',
  offer: {
    ...{ id: 'offer-1', name: 'RTX 4090', region: 'ru-1', in_stock: true, gpu_count: 2 },
    gpu_model: { name: 'GeForce', vram_gb: 24 },
  },
  base_image: { id: 'image-1', name: 'Ubuntu 22.04', cuda_version: '12.4' },
} as const;
const { base_image: _image, ...OFFER } = BOX;

const BUILT_IN = {
  offers: [
    {
      ...{ id: 'offer-1', name: 'Built-in', region: 'sb', in_stock: false, gpu_count: 1 },
      ...{ gpu_model: { name: 'G', vram_gb: 8 }, price_per_hour: '1.00' },
    },
  ],
  images: [{ id: 'image-2', name: 'Debian', cuda_version: '11.8' }],
};

interface Computer {
  readonly file: string;
  readonly clock: ReturnType<typeof manualClock>;
}
type Step = (catalog: Catalog, computer: Computer) => unknown;

const learn =
  (instance: SeenInstance): Step =>
  (catalog) =>
    catalog.learn(instance);
const later =
  (minutes: number): Step =>
  (_catalog, { clock }) =>
    clock.advance(minutes * 60_000);
const put =
  (text: string): Step =>
  (_catalog, { file }) =>
    writeFileSync(file, text);
const known: Step = (catalog) => catalog.known();
const entries: Step = (catalog) => catalog.entries();
const add =
  (kind: 'offer' | 'image', id: string, name: string): Step =>
  (catalog) =>
    catalog.add(kind, id, name);
const remove =
  (kind: 'offer' | 'image', id: string): Step =>
  (catalog) =>
    catalog.remove(kind, id);

const STORIES: Readonly<Record<string, readonly Step[]>> = {
  'an instance, and the same one later': [
    learn(BOX),
    learn(BOX),
    later(59),
    learn(BOX),
    later(1),
    learn(BOX),
    later(-120),
    learn(BOX),
    known,
  ],
  'the price of the newest instance': [
    learn(OFFER),
    learn({ ...OFFER, price_per_hour_snapshot: '8', created_at: '2026-01-15T10:59:59Z' }),
    learn({ ...OFFER, price_per_hour_snapshot: '7' }),
    learn({ ...OFFER, price_per_hour_snapshot: '6', created_at: '2026-01-15T11:00:01Z' }),
    learn({ ...OFFER, price_per_hour_snapshot: '6', created_at: null }),
    learn({ ...OFFER, price_per_hour_snapshot: '5', created_at: 'soon' }),
  ],
  'the stock': [
    learn({ offer: { id: 'offer-1', in_stock: false } }),
    later(10),
    learn({ offer: { id: 'offer-1' } }),
    learn({ offer: { id: 'offer-1', in_stock: false } }),
    learn({ offer: { id: 'offer-1', in_stock: true } }),
    later(60),
    learn({ offer: { id: 'offer-1', name: 'new' } }),
  ],
  'what can not be learned': [
    learn({}),
    learn({ offer: null, base_image: null }),
    learn({ offer: { id: '../x', name: 'a' }, base_image: { id: '', name: 'b' } }),
    learn({
      price_per_hour_snapshot: 'free',
      offer: {
        ...{ id: 'offer-1', name: ' ', region: 'r'.repeat(201), in_stock: null, gpu_count: 0 },
        gpu_model: { name: 'g'.repeat(200), vram_gb: -1 },
      },
      base_image: { id: 'image-1', name: null },
    }),
    learn({ offer: { id: 'offer-1', gpu_model: null } }),
    entries,
  ],
  'own names': [
    add('offer', 'offer-1', 'mine'),
    add('image', 'offer-1', 'other'),
    add('offer', 'offer-1', 'again'),
    learn(BOX),
    entries,
    remove('image', 'offer-1'),
    remove('image', 'offer-1'),
    async (catalog) => {
      await catalog.add('image', 'image-3', 'third');
      const names = (await catalog.known()).map(({ name }) => name);
      await catalog.remove('image', 'image-3');
      return [...names, ...(await catalog.known()).map(({ name }) => name)];
    },
    remove('offer', 'offer-1'),
    entries,
  ],
  'files of others': [
    put('{"version":1,"names":[{"service":"other","kind":"offer","id":"offer-1","x":1}],"y":2}'),
    learn(OFFER),
    remove('offer', 'offer-1'),
    entries,
    ...['', '[', '{"version":2,"names":[]}', '{"version":1,"names":[{"service":1}]}', '7'].flatMap(
      (text) => [put(text), entries],
    ),
    known,
    learn(BOX),
    add('offer', 'offer-1', 'mine'),
    async (catalog) => {
      await catalog.known();
      await catalog.learn(BOX);
      return catalog.known();
    },
  ],
};

async function noted(steps: readonly Step[], builtIn?: typeof BUILT_IN) {
  const folder = await temporaryFolder();
  const file = join(folder, 'catalog.json');
  const clock = manualClock();
  const lines: string[] = [];
  const stored = () => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  };
  for (const step of steps) {
    const before = stored();
    const catalog = openCatalog({
      ...{ file, service: 'https://api.example.com', clock },
      warn: (text) => void lines.push(`! ${text}`),
      ...(builtIn && { builtIn: async () => builtIn }),
    });
    const result = await (async () => step(catalog, { file, clock }))().then(
      (value) => (Array.isArray(value) ? value : [value]).map((one) => JSON.stringify(one)),
      ({ failure, message, hint, resource }) => [[failure, message, hint, resource].join(' | ')],
    );
    const after = stored();
    const lined = after
      .trim()
      .replaceAll(/\n\s*/g, ' ')
      .replaceAll(' { "service"', '\n    { "service"');
    lines.push(...result.map((one) => one ?? '-'), ...(after === before ? [] : [`  + ${lined}`]));
  }
  return `\n${lines.join('\n').replaceAll(folder, 'FOLDER')}\n`;
}

test.each(Object.entries(STORIES))(
  'returns, warns and stores in each step: %s',
  async (...args) => {
    expect(await noted(args[1])).toMatchSnapshot();
  },
);

test('joins own names with the built-in ones', async () => {
  const steps = [
    entries,
    learn(BOX),
    add('offer', 'offer-1', 'mine'),
    add('image', 'image-2', 'theirs'),
    entries,
    remove('offer', 'offer-1'),
    known,
  ];
  expect(await noted(steps, BUILT_IN)).toMatchSnapshot();
});
