import { describe, expect, it } from 'vitest';
import type { Format, View } from '../../src/output/output.ts';
import { inZone } from '../support/in-zone.ts';
import { type Instance, instances, streamed, view, written } from './world.ts';

const first = instances[0] as Instance;

describe('a list in a pipe', () => {
  it('prints a plain table with bare amounts and local times', async () => {
    const { stdout, notes } = await written({}, (out) => out.list(instances, view));
    expect(stdout).toBe(
      [
        'ID    NAME        STATUS                   PRICE/H  GPUS  PAID UNTIL',
        inZone('a1b2  trainer     ACTIVE                      89.9     1  2026-03-01 12:52:30'),
        'c3d4  Ночной бот  STOPPED  1250.123456789012345678    16  -',
        '',
      ].join('\n'),
    );
    expect(notes).toEqual([]);
  });

  it('omits the header of a list with --no-header', async () => {
    const settings = { header: false, columns: ['name', 'gpus'] };
    const { stdout } = await written(settings, (out) => out.list(instances, view));
    expect(stdout).toBe('trainer      1\nНочной бот  16\n');
  });

  it('prints the unchanged rows as a JSON document', async () => {
    const { stdout } = await written({ format: 'json' }, (out) => out.list(instances, view));
    expect(stdout).toBe(`${JSON.stringify(instances, null, 2)}\n`);
  });

  it('prints the same JSON document if the rows arrive one by one', async () => {
    const { stdout } = await written({ format: 'json' }, (out) =>
      out.list(streamed(instances), view),
    );
    expect(stdout).toBe(`${JSON.stringify(instances, null, 2)}\n`);
  });

  it('prints one JSON object per line as jsonl', async () => {
    const { stdout } = await written({ format: 'jsonl' }, (out) => out.list(instances, view));
    expect(stdout).toBe(instances.map((row) => `${JSON.stringify(row)}\n`).join(''));
  });

  it('prints csv with column IDs as the header', async () => {
    const { stdout } = await written({ format: 'csv' }, (out) => out.list(instances, view));
    expect(stdout).toBe(
      'id,name,status,price,gpus,paid_until\n' +
        'a1b2,trainer,ACTIVE,89.9,1,2026-03-01T12:52:30Z\n' +
        'c3d4,Ночной бот,STOPPED,1250.123456789012345678,16,\n',
    );
  });

  it('prints tsv with raw values', async () => {
    const settings = { format: 'tsv', columns: ['name', 'used', 'size', 'default'] } as const;
    const { stdout } = await written(settings, (out) => out.list(instances, view));
    expect(stdout).toBe(
      'name\tused\tsize\tdefault\n' +
        'trainer\t1073741824\t500\ttrue\n' +
        'Ночной бот\t0\t50\tfalse\n',
    );
  });

  it('prints yaml that quotes numeric strings', async () => {
    const settings = { format: 'yaml', columns: ['id', 'price', 'gpus', 'paid_until'] } as const;
    const { stdout } = await written(settings, (out) => out.list(instances, view));
    expect(stdout).toBe(
      [
        ...['- id: a1b2', '  price: "89.9"', '  gpus: 1', '  paid_until: "2026-03-01T12:52:30Z"'],
        ...['- id: c3d4', '  price: "1250.123456789012345678"', '  gpus: 16', '  paid_until: null'],
        ...[''],
      ].join('\n'),
    );
  });

  it('quotes a bare = in yaml, which YAML 1.1 does not read as text', async () => {
    const settings = { format: 'yaml', columns: ['name'] } as const;
    const rows = ['=', 'a=b'].map((name) => ({ ...first, name }));
    const { stdout } = await written(settings, (out) => out.list(rows, view));
    expect(stdout).toBe('- name: "="\n- name: a=b\n');
  });

  it('prints only IDs, and skips rows without an ID', async () => {
    const rows = [...instances, { ...first, id: null }];
    const { stdout } = await written({ format: 'id' }, (out) => out.list(rows, view));
    expect(stdout).toBe('a1b2\nc3d4\n');
  });
});

describe('an empty list', () => {
  it.each([
    ['table', '', ['No instances yet.']],
    ['json', '[]\n', []],
    ['jsonl', '', []],
    ['csv', 'id,name,status,price,gpus,paid_until\n', []],
    ['tsv', 'id\tname\tstatus\tprice\tgpus\tpaid_until\n', []],
    ['yaml', '[]\n', []],
    ['id', '', []],
  ] as const)('prints an empty list as %s', async (format, stdout, notes) => {
    for (const rows of [[], streamed<Instance>([])]) {
      const result = await written({ format }, (out) => out.list(rows, view));
      expect([result.stdout, result.notes]).toEqual([stdout, notes]);
    }
  });
});

describe('a single result', () => {
  it('prints a JSON object instead of a list', async () => {
    const { stdout } = await written({ format: 'json' }, (out) => out.item(first, view));
    expect(stdout).toBe(`${JSON.stringify(first, null, 2)}\n`);
  });

  it('prints the JSON that the view defines', async () => {
    const own: View<Instance> = { ...view, json: (row) => ({ only: row.name }) };
    const { stdout } = await written({ format: 'jsonl' }, (out) => out.item(first, own));
    expect(stdout).toBe('{"only":"trainer"}\n');
  });

  it.each<[Format, string]>([
    ['jsonl', '{"id":"a1b2"}\n'],
    ...(['table', 'json', 'yaml', 'csv', 'tsv', 'id'] as const).map((format): [Format, string] => [
      format,
      '{\n  "id": "a1b2"\n}\n',
    ]),
  ])('prints a document in %s', async (format, text) => {
    const document: View<{ id: string }> = {
      columns: [],
      isDocument: true,
      id: () => null,
      empty: '',
    };
    const { stdout } = await written({ format }, (out) => out.item({ id: 'a1b2' }, document));
    expect(stdout).toBe(text);
  });

  it('prints a yaml mapping, a csv row, or its ID with -q', async () => {
    const columns = ['name', 'gpus'];
    const yaml = await written({ format: 'yaml', columns }, (out) => out.item(first, view));
    const csv = await written({ format: 'csv', columns }, (out) => out.item(first, view));
    const id = await written({ format: 'id' }, (out) => out.item(first, view));
    expect(yaml.stdout).toBe('name: trainer\ngpus: 1\n');
    expect(csv.stdout).toBe('name,gpus\ntrainer,1\n');
    expect(id.stdout).toBe('a1b2\n');
  });

  it('prints a line per column if the view has no sections', async () => {
    const { stdout } = await written({ columns: ['name', 'paid_until', 'price'] }, (out) =>
      out.item({ ...first, paid_until: null }, view),
    );
    expect(stdout).toBe('NAME:        trainer\nPAID UNTIL:  -\nPRICE/H:     89.9\n');
  });

  it('prints the bare value with --columns and --no-header', async () => {
    const settings = { columns: ['status'], header: false };
    const { stdout } = await written(settings, (out) => out.item(first, view));
    expect(stdout).toBe('ACTIVE\n');
  });

  it('prints details in sections, without missing fields', async () => {
    const detailed: View<Instance> = {
      ...view,
      sections: [
        {
          lines: (row) => [
            { label: 'Name', value: row.name },
            { label: 'Status', value: row.status, kind: 'status' },
            { label: 'Failure', value: null },
          ],
        },
        { lines: (row) => [{ label: 'Price per hour', value: row.price, kind: 'money' }] },
        { heading: 'Nothing', lines: () => [{ label: 'Empty', value: '' }] },
        {
          heading: 'Readme',
          lines: () => [{ label: 'Text', value: 'one\r\n\r\n\ttwo\u001b[2J\nthree\n' }],
        },
      ],
    };
    const { stdout } = await written({}, (out) => out.item(first, detailed), {
      columns: 80,
      colour: true,
    });
    expect(stdout).toBe(
      [
        ...['Name:            trainer', 'Status:          \u001b[32mACTIVE\u001b[39m'],
        ...['Price per hour:  89.90 ₽', '', '\u001b[1mReadme\u001b[22m', '  Text:          one'],
        ...['', '                     two', '                 three', ''],
      ].join('\n'),
    );
  });

  it('removes control characters from a text', async () => {
    const { stdout } = await written({ format: 'json' }, (out) =>
      out.text('#!/bin/sh\n\u001b[2J\u202eecho\r\n'),
    );
    expect(stdout).toBe('#!/bin/sh\necho\n');
  });

  it("prints a text's exact bytes in a pipe, and removes control characters in a terminal", async () => {
    const text = 'a\u001b[2J\rb\n';
    const exact = (terminal?: { columns: number }) =>
      written({}, (out) => out.exact(text), terminal);
    expect((await exact()).stdout).toBe(text);
    expect((await exact({ columns: 80 })).stdout).toBe('a\nb\n');
  });
});

describe('a cell that a spreadsheet runs as a formula', () => {
  const cells = [
    ...['=1+1', '+cmd', '-2+3', '@SUM(A1)', ' =1', '\n=1', '＝1', '="a"', '-89.90', '+5', 'a=b'],
    ...['a,b'],
  ];
  const cell: View<{ cell: string }> = {
    columns: [{ id: 'cell', header: 'CELL', value: (row) => row.cell }],
    id: (row) => row.cell,
    empty: 'none',
  };
  const csv = async (csvSafe: boolean, query?: string) => {
    const settings = {
      format: 'csv',
      header: false,
      csvSafe,
      ...(query ? { query } : {}),
    } as const;
    const rows = cells.map((text) => ({ cell: text }));
    return (await written(settings, (out) => out.list(rows, cell))).stdout.split(/\n(?!=)/);
  };

  it('keeps a cell that a spreadsheet runs as a formula unchanged in csv', async () => {
    expect((await csv(false)).slice(0, 4)).toEqual(cells.slice(0, 4));
  });

  it.each([undefined, '[].{cell: cell}'])(
    'prints a formula cell as text with --csv-safe (query %s)',
    async (query) => {
      expect(await csv(true, query)).toEqual([
        `"'=1+1"`,
        `"'+cmd"`,
        `"'-2+3"`,
        `"'@SUM(A1)"`,
        `"' =1"`,
        `"'\n=1"`,
        `"'＝1"`,
        `"'=""a"""`,
        '-89.90',
        '+5',
        'a=b',
        '"a,b"',
        '',
      ]);
    },
  );
});

describe('a row with secrets', () => {
  const row = { ...first, env: [{ key: 'TOKEN', value: 'abcdef123' }], link: '?t=abcdef123' };
  const rows = [row];
  const linked: View<Instance> = {
    ...view,
    columns: [{ id: 'link', header: 'LINK', value: (instance) => instance.link }],
  };

  it.each(['json', 'jsonl', 'yaml'] as const)(
    "masks a row's secrets in %s, even inside a link",
    async (format) => {
      const { stdout } = await written({ format }, (out) => out.list(rows, view));
      expect(stdout).toContain('TOKEN');
      expect(stdout).toContain('?t=********');
      expect(stdout).not.toContain('abcdef123');
    },
  );

  it.each(['table', 'csv', 'tsv'] as const)(
    'masks secrets in %s before a column reads the row',
    async (format) => {
      const { stdout } = await written({ format }, (out) => out.list(rows, linked));
      expect(stdout.trim().split(/\s+/).at(-1)).toBe('?t=********');
    },
  );

  it("masks a row's secrets in details", async () => {
    const { stdout } = await written({}, (out) => out.item(row, linked));
    expect(stdout).toContain('?t=********');
    expect(stdout).not.toContain('abcdef123');
  });

  it("prints a row's secrets with --show-secrets", async () => {
    const { stdout } = await written({ format: 'json', showSecrets: true }, (out) =>
      out.list(rows, view),
    );
    expect(JSON.parse(stdout)).toEqual(rows);
  });
});
