// A service on loopback that responds to the benchmarks as fast as it can, in a process of
// its own, so that its work is not counted as the program's.
//
// The first part of the path sets the scene: /rows=1000000,wait=50/billing/transactions has a
// million transactions, and waits 50 ms before each response.
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

/** The text after a transaction's ID, for each rented instance. */
const RENTS = Array.from(
  { length: 97 },
  (_, box) =>
    `","type":"USAGE_CHARGE","status":"COMPLETED","amount":"89.90","direction":"OUTGOING","description":"Rent of box-${box} for an hour","created_at":"${TIME}"}`,
);

/** Returns a UUID that looks random, with letters in it. */
function transactionId(number) {
  const mixed = (Math.imul(number, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
  return `${mixed}-${mixed.slice(4)}-4e8a-8c1d-${number.toString(16).padStart(12, '0')}`;
}

/** Pages requested before: building them again would only measure this file. */
const pages = new Map();
const MOST_PAGES_BYTES = 64 * 1024 * 1024;
let pagesBytes = 0;

function page(query) {
  const [rows, number, limit] = query;
  const key = query.join();
  const known = pages.get(key);
  if (known !== undefined) return known;
  const bytes = Buffer.from(transactions(rows, number, limit), 'latin1');
  if (pagesBytes + bytes.length <= MOST_PAGES_BYTES) {
    pages.set(key, bytes);
    pagesBytes += bytes.length;
  }
  return bytes;
}

/** Newest first, built from texts without objects. */
function transactions(total, page, limit) {
  let rows = '';
  const end = Math.min(total, page * limit);
  for (let at = (page - 1) * limit; at < end; at += 1) {
    rows += `${rows === '' ? '' : ','}{"id":"${transactionId(total - at)}${RENTS[at % RENTS.length]}`;
  }
  const meta = { total, page, limit, total_pages: Math.ceil(total / limit) };
  return `{"status":"success","code":200,"data":[${rows}],"meta":${JSON.stringify(meta)}}`;
}

async function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
  const [, how = '', ...rest] = pathname.split('/');
  const { rows = '0', wait = '0' } = Object.fromEntries(
    how.split(',').map((pair) => pair.split('=')),
  );
  if (wait !== '0') await sleep(Number(wait));
  const path = rest.join('/');
  const body = path.startsWith('instances/')
    ? envelope(instance(rest[1] ?? ''))
    : path === 'billing/transactions'
      ? page([rows, searchParams.get('page') ?? 1, searchParams.get('limit') ?? 20].map(Number))
      : path === 'v1/servers/1'
        ? HCLOUD
        : envelope([]);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': bytes.length,
  });
  response.end(bytes);
}

function envelope(data) {
  return JSON.stringify({ status: 'success', code: 200, data });
}

/** The response that hcloud needs to describe a server. */
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
