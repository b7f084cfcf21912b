// A service on loopback that answers what the benchmarks ask for, as fast as it can. It is a
// process of its own, so that its work is not counted for that of the program.
//
// The first part of the path says how: /rows=1000000,wait=50/billing/transactions has a million
// transactions, and waits 50 ms before each answer.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

const TIME = '2026-03-01T12:00:00.000Z';

function instance(id) {
  return {
    id,
    name: `box-${id.slice(0, 8)}`,
    status: 'ACTIVE',
    price_per_hour_snapshot: '89.90',
    ip_address: '203.0.113.7',
    ssh_username: 'root',
    ssh_port: 22,
    external_id: null,
    docker_config: null,
    failure_reason: null,
    metadata: null,
    connection_info: { type: 'os_only', secrets: {}, endpoints: [] },
    application_template: null,
    storage_drive: null,
    offer: { id: 'offer-1', name: 'RTX 4090', gpu_count: 1, region: 'eu-1', in_stock: true },
    provider: { id: 'provider-1', slug: 'one', name: 'One' },
    base_image: { id: 'image-1', name: 'Ubuntu 24.04', os_type: 'linux' },
    ssh_keys: [],
    paid_until: TIME,
    last_billed_at: TIME,
    started_at: TIME,
    terminated_at: null,
    created_at: TIME,
    updated_at: TIME,
  };
}

/** Newest first, as a string: a million objects would only measure this file. */
function transactions(total, page, limit) {
  const rows = [];
  for (let at = (page - 1) * limit; at < Math.min(total, page * limit); at += 1) {
    const id = `00000000-0000-4000-8000-${String(total - at).padStart(12, '0')}`;
    rows.push(
      `{"id":"${id}","type":"USAGE_CHARGE","status":"COMPLETED","amount":"89.90","direction":"OUTGOING","description":"Rent of box-${at % 97} for an hour","created_at":"${TIME}"}`,
    );
  }
  const meta = { total, page, limit, total_pages: Math.ceil(total / limit) };
  return `{"status":"success","code":200,"data":[${rows.join(',')}],"meta":${JSON.stringify(meta)}}`;
}

async function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
  const [, how = '', ...rest] = pathname.split('/');
  const { rows = '0', wait = '0' } = Object.fromEntries(
    how.split(',').map((pair) => pair.split('=')),
  );
  if (wait !== '0') await sleep(Number(wait));
  const path = rest.join('/');
  const text = path.startsWith('instances/')
    ? envelope(instance(rest[1] ?? ''))
    : path === 'billing/transactions'
      ? transactions(
          Number(rows),
          Number(searchParams.get('page') ?? 1),
          Number(searchParams.get('limit') ?? 20),
        )
      : path === 'v1/servers/1'
        ? HCLOUD
        : envelope([]);
  response.setHeader('content-type', 'application/json');
  response.end(text);
}

function envelope(data) {
  return JSON.stringify({ status: 'success', code: 200, data });
}

/** What hcloud needs to describe a server. */
const HCLOUD = JSON.stringify({
  server: {
    id: 1,
    name: 'box',
    status: 'running',
    created: TIME,
    public_net: { ipv4: { ip: '203.0.113.7' }, ipv6: { ip: '2001:db8::/64' }, floating_ips: [] },
    server_type: { id: 1, name: 'cx22', cores: 2, memory: 4, disk: 40 },
    datacenter: { id: 1, name: 'one', location: { id: 1, name: 'one' } },
    image: null,
    volumes: [],
    labels: {},
  },
});

const listener = (request, response) => void answer(request, response);
const [keyFile, certificateFile] = process.argv.slice(2);
const plain = createServer(listener).listen(0, '127.0.0.1');
const secure =
  keyFile === undefined || certificateFile === undefined
    ? undefined
    : createSecureServer(
        { key: readFileSync(keyFile), cert: readFileSync(certificateFile) },
        listener,
      ).listen(0, '127.0.0.1');
for (const server of [plain, secure]) {
  if (server !== undefined) server.keepAliveTimeout = 60_000;
}
await sleep(100);
process.stdout.write(
  `${JSON.stringify({ http: plain.address().port, https: secure?.address().port })}\n`,
);
process.stdin.resume().on('end', () => process.exit());
