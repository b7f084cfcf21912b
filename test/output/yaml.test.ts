import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadYaml } from '../../src/output/formats/yaml.ts';
import { yamlItems } from '../../src/output/formats/yaml-items.ts';

/** Words that YAML takes for something else, and texts that are nearly such. */
const traps = fc.constantFrom(
  ...['yes', 'No', 'ON', 'off', 'y', 'N', 'true', 'False', 'null', 'Null', '~', '', '<<', '=', '-'],
  ...['NaN', '.inf', '-.INF', '1e3', '0x1F', '0o17', '0b1', '1_000', '12:30', '1:20.5', '.5', '5.'],
  ...['2026-01-01', '2026-01-01T00:00:00Z', '2026-1-1 1:2:3', '2026-03-01T12:00:00.5Z', '89.90'],
  ...[
    '-5',
    '007.10',
    '123456',
    '---',
    '...',
    'a: b',
    'a:',
    'a #b',
    '#a',
    '*a',
    '&a',
    '!a',
    '|',
    '>',
  ],
  ...[
    '? a',
    '[a]',
    '{a}',
    "it's",
    '"a"',
    'a\nb',
    ' a',
    'a ',
    '\ta',
    '- a',
    'a  b',
    'Rent of box-1',
  ],
  ...[
    'null null',
    'true-',
    'yes no',
    'Infinity',
    'accent é',
    'Аренда машины',
    'вход',
    '\u0000',
    '\ud800',
  ],
  '00000000-0000-4000-8000-000000000001',
  '1e000000-0000-4000-8000-000000000001',
);
const text = fc.oneof(
  traps,
  fc.string(),
  fc.string({ unit: fc.constantFrom(...'aeE0159_-. :ТП#') }),
  fc.uuid(),
);
const value = fc.oneof(text, text, text, fc.jsonValue({ maxDepth: 2 }), fc.double(), fc.boolean());

describe('items of a YAML list', () => {
  it('are those of the library to the letter, whatever they hold', async () => {
    const yaml = await loadYaml();
    const item = yamlItems(yaml);
    fc.assert(
      fc.property(fc.array(fc.tuple(text, value), { maxLength: 5 }), (fields) => {
        const row = Object.fromEntries(fields);
        expect(item(row)).toBe(yaml([row]));
        // Once more, from what is remembered.
        expect(item(row)).toBe(yaml([row]));
      }),
      { numRuns: 300 },
    );
  });

  it.each([[[]], [{}], [null], ['text'], [7], [[{ a: 1 }]]])('may be %j', async (given) => {
    const yaml = await loadYaml();
    expect(yamlItems(yaml)(given)).toBe(yaml([given]));
  });

  it('keep each of many different texts', async () => {
    const item = yamlItems(await loadYaml());
    const rows = Array.from({ length: 2500 }, (_, at) => ({ short: `t${at}`, [`f${at}`]: at }));
    expect(parse(rows.map(item).join(''))).toEqual(rows);
  });
});
