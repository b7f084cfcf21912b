import { expect, test } from 'vitest';
import { changedView, instanceView, rentedView } from '../../../src/commands/instances/view.ts';
import type { ShownInstance } from '../../../src/json-results/instances.ts';

const FULL = {
  ...{ id: 'i-1', name: 'box', status: 'ACTIVE', failure_reason: 'no power' },
  ...{ external_id: 'x-1', provider: { name: 'Provider' }, ip_address: '192.0.2.1' },
  ...{ ssh_port: 2222, ssh_username: 'me', price_per_hour_snapshot: '9.9', cost_estimate: '4.5' },
  ...{ paid_until: 'paid', last_billed_at: 'billed', ends_at: 'ends', created_at: 'created' },
  ...{ started_at: 'started', updated_at: 'updated', terminated_at: 'terminated' },
  ...{ if_idle_seconds: 600, idle_seconds: 60 },
  rescue: [{ remote: 'out', local: 'in', copied_at: null }],
  offer: {
    ...{ id: 'o-1', name: 'Offer', gpu_count: 8, vram_gb: 640, interconnect: 'SXM5' },
    gpu_model: { name: 'H100', vram_gb: 80 },
    ...{ cpu_cores: 1, ram_gb: 2, root_disk_gb: 3, ephemeral_disk_gb: 4, region: 'ru-1' },
  },
  base_image: {
    ...{ id: 'b-1', name: 'Ubuntu', os_type: 'linux', distro_version: '22.04' },
    ...{ cuda_version: '12.4', driver_version: '550', supports_docker: true, supports_rdp: true },
  },
  connection_info: { type: 'vm' },
  application_template: { name: 'Template', slug: 't', id: 't-1' },
  storage_drive: { name: 'Drive', slug: 'd', id: 'd-1' },
  ssh_keys: [
    { id: 'k-1', name: 'laptop', fingerprint: 'SHA256:a' },
    { id: 'k-2', fingerprint: null },
    {},
  ],
};

/** The same facts with fewer names, and without details. */
const SPARSE = {
  ...{ id: 'i-1', name: 'box', status: 'STOPPED', was_stopped: true, cost_estimate: '4.5' },
  offer: { id: 'o-1', gpu_model: { name: 'H100' }, interconnect: '' },
  base_image: { id: 'b-1', distro_version: '22.04', supports_docker: false },
  application_template: { slug: 't', id: 't-1' },
  storage_drive: { id: 'd-1' },
};

/** Returns the lines that a table of the details shows. */
function linesOf(view: typeof instanceView, fields: object): string[] {
  const shown = (view.sections ?? []).flatMap(({ lines }) => lines(fields as ShownInstance));
  return shown.flatMap(({ label, value }) =>
    value == null || value === '' ? [] : [`${label}: ${value}`],
  );
}

const GPU = '8 × H100, 80 GB each, 640 GB total, SXM5';
const IMAGE = 'Ubuntu (linux 22.04, CUDA 12.4, driver 550, docker, RDP)';
const HEAD = ['Name: box', 'ID: i-1', 'Status: ACTIVE', 'Failure: no power'];
const MACHINE = [
  ...['Offer: Offer', `GPU: ${GPU}`, 'Host: 1 cores, 2 GB memory, 3 GB disk, 4 GB fast disk'],
  ...['Region: ru-1', `Image: ${IMAGE}`, 'Type: vm', 'Template: Template', 'Drive: Drive'],
  ...['Provider: Provider', 'Provider ID: x-1'],
];
const REST = [
  ...['Address: 192.0.2.1', 'SSH: ssh -p 2222 me@192.0.2.1'],
  'SSH keys: laptop (SHA256:a)\nk-2\na key',
  ...['Created: created', 'Started: started', 'Updated: updated', 'Terminated: terminated'],
];
const MONEY = ['Price per hour: 9.9', 'Cost estimate: 4.5'];

test.each<[what: string, view: typeof instanceView, fields: object, lines: readonly string[]]>([
  [
    'all fields',
    instanceView,
    FULL,
    [
      ...[...HEAD, ...MACHINE, ...MONEY, 'Paid until: paid', 'Last charged: billed'],
      ...['Deadline: ends', 'Idle: 1 min of 10 min', 'Rescue: out', ...REST],
    ],
  ],
  [
    'a terminated instance',
    instanceView,
    { ...FULL, status: 'TERMINATED' },
    [
      ...HEAD.map((line) => line.replace('ACTIVE', 'TERMINATED')),
      ...[...MACHINE, ...MONEY, 'Last charged: billed', ...REST],
    ],
  ],
  [
    'few fields',
    instanceView,
    SPARSE,
    [
      ...['Name: box', 'ID: i-1', 'Status: STOPPED', 'Offer: o-1', 'GPU: ? × H100'],
      ...['Image: b-1 (22.04)', 'Template: t', 'Drive: d-1', 'Cost at most: 4.5'],
    ],
  ],
  [
    'no details',
    instanceView,
    { id: 'i-1', offer: { vram_gb: 9 }, base_image: {} },
    ['ID: i-1', 'GPU: 9 GB total'],
  ],
  [
    'a rented instance',
    rentedView,
    FULL,
    ['Name: box', 'Status: ACTIVE', 'Failure: no power', 'Price per hour: 9.9', 'Paid until: paid'],
  ],
])('shows the details of %s', (_what, view, fields, lines) => {
  expect(linesOf(view, fields)).toEqual(lines);
});

test('shows a container as docker writes it, and what is not as documented as JSON', () => {
  const ports = [
    { external_port: 80, internal_port: 81 },
    { external_port: 80 },
    { internal_port: 81 },
  ];
  const env = [
    { key: 'A', value: 'b' },
    { key: 'A', value: 5 },
    { key: 5, value: 'b' },
  ];
  expect(linesOf(instanceView, { id: 'i-1', docker_config: { ports, env } })).toEqual([
    'ID: i-1',
    'ports: 80->81/tcp\n{"external_port":80}\n{"internal_port":81}',
    'env: A=b\n{"key":"A","value":5}\n{"key":5,"value":"b"}',
  ]);
});

test.each([
  ['ACTIVE', 'paid', 'ends'],
  ['TERMINATED', undefined, undefined],
])('shows the columns of an instance that is %s', (status, paid, ends) => {
  const { columns, json } = instanceView;
  const row = { ...FULL, status } as unknown as ShownInstance;
  expect(columns.map(({ value }) => value(row))).toEqual([
    ...['box', 'i-1', status, 'Offer', '9.9', '192.0.2.1', paid, 'created'],
    ...['ru-1', 8, 'Ubuntu', 'no power', ends],
  ]);
  expect(json?.(row)).toEqual({ ...row, ends_at: ends ?? null });
});

test.each([
  [{ status: 'ACTIVE', paid_until: 'paid', ends_at: 'ends', rescue: ['out'] }, {}],
  [{ status: 'TERMINATING', paid_until: 'paid', ends_at: 'ends' }, { ends_at: null }],
  [{ status: 'STOPPED', ends_at: null }, { paid_until: null }],
])('returns the changed instance %j as JSON', (fields, changes) => {
  const row = { id: 'i-1', name: 'box', ...fields };
  expect(changedView.json?.(row as never)).toEqual({ ...row, ...changes });
});
