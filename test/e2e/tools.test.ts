import { describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Computer, createComputer } from '../support/program.ts';
import { ok, type Service, startService } from '../support/service.ts';

/** An invalid name that a service might still return. */
const NAME = 'say "hi", tab\there\nnext line 🚀 Ж';

const KEYS = [
  {
    id: 'k1',
    name: NAME,
    fingerprint: 'SHA256:a',
    public_key: 'ssh-ed25519 AAAA',
    is_default: true,
  },
  { id: 'k2', name: 'plain', fingerprint: null, public_key: 'ssh-rsa BBBB', is_default: false },
];

let computer: Computer;
let service: Service;

/** Runs a bash line in which `keys FLAGS` lists the keys. */
async function bash(line: string): Promise<string> {
  computer = await createComputer();
  service = await startService(() => ok(KEYS));
  const env = { GPUCLOUD_API_KEY: 'svc_sk_x', GPUCLOUD_BASE_URL: service.url };
  const { code, stdout, stderr } = await computer.bash(
    `set -euo pipefail; keys() { gpucloud ssh-keys list "$@"; }; ${line}`,
    { env },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('the output for other tools', () => {
  test('prints JSON and JSON Lines that jq reads without loss', needs('jq'), async () => {
    expect(JSON.parse(await bash("keys --json | jq '.[0].name'"))).toBe(NAME);
    await computer.remove();
    await service.close();
    expect(await bash('keys -o jsonl | jq -r .id')).toBe('k1\nk2\n');
  });

  test('prints TSV that awk and cut split into rows and columns', async () => {
    expect(
      await bash(
        `keys -o tsv --columns id,name,is_default --no-header | awk -F'\\t' 'NF != 3 { exit 1 } { print $1 "=" $3 }'`,
      ),
    ).toBe('k1=true\nk2=false\n');
    await computer.remove();
    await service.close();
    expect(await bash('keys -o tsv --columns name,id --no-header | cut -f2')).toBe('k1\nk2\n');
  });

  test('prints CSV (RFC 4180) that Python reads without loss', needs('python3'), async () => {
    const reader = 'import csv, json, sys; print(json.dumps(list(csv.reader(sys.stdin))))';
    const rows = JSON.parse(await bash(`keys -o csv --columns id,name | python3 -c '${reader}'`));
    expect(rows).toEqual([
      ['id', 'name'],
      ['k1', NAME],
      ['k2', 'plain'],
    ]);
  });

  test('prints a table that awk splits into columns', async () => {
    expect(await bash("keys --columns id,is_default | awk 'NR > 1 { print $2 }'")).toBe(
      'yes\nno\n',
    );
  });
});
