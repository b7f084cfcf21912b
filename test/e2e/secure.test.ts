import { writeFile } from 'node:fs/promises';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CERTIFICATE, CERTIFICATE_KEY } from '../api/certificate.ts';
import { type Computer, createComputer, type Outcome } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { errorOf } from '../support/stderr-lines.ts';

// Tests TLS, proxies and resets with the built program's runtime.

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const KEY = 'svc_sk_secure_0123456789abcdef';

let computer: Computer;
let servers: Server[];
/** The requests to the service, and the tunnels through the proxy. */
let requests: string[];
let tunnels: string[];
/** The service's behaviour after it has read a POST. */
let onPost: 'make' | 'reset' | 'make after 100' | 'make after 103';
let port: number;
beforeEach(async () => {
  servers = [];
  requests = [];
  tunnels = [];
  onPost = 'make';
  computer = await createComputer();
  await writeFile(join(computer.home, 'ca.pem'), CERTIFICATE);
  port = await listen(service());
});
afterEach(async () => {
  for (const server of servers) server.close();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket) => socket.unref().on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function service(): Server {
  return createHttpsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, respond);
}

function respond(request: IncomingMessage, response: ServerResponse): void {
  requests.push(`${request.method} ${request.url}`);
  request.resume().on('end', () => {
    const socket = request.socket as Socket & { _parent?: Socket };
    if (request.method === 'POST' && onPost === 'reset') {
      (socket._parent ?? socket).resetAndDestroy();
      return;
    }
    if (request.method === 'POST' && onPost === 'make after 100') response.writeContinue();
    if (request.method === 'POST' && onPost === 'make after 103') {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
    }
    const data =
      request.url === '/users/me'
        ? { id: 'user-1' }
        : { id: ID, name: 'trainer', status: 'ACTIVE' };
    response.end(JSON.stringify({ status: 'success', code: 200, data }));
  });
}

/** Creates a proxy that opens, refuses or resets tunnels. */
function proxy(how: 'open' | 'refuse' | 'reset', password = ''): Server {
  const server = createHttpServer((request, response) => {
    tunnels.push(request.url ?? '');
    response.writeHead(502).end();
  });
  return server.on('connect', (request, socket: Socket) => {
    tunnels.push(`${request.url} ${request.headers['proxy-authorization'] ?? 'nobody'}`);
    socket.on('error', () => undefined);
    const wanted = password && `Basic ${Buffer.from(password).toString('base64')}`;
    if (how === 'reset') return void socket.resetAndDestroy();
    if (how === 'refuse' || (wanted && request.headers['proxy-authorization'] !== wanted)) {
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    }
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
  });
}

const CREATE = ['instances', 'create', 'trainer', ...HARDWARE, '--json', '--timeout', '20s'];

function gpucloud(argv: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const base = { GPUCLOUD_BASE_URL: `https://127.0.0.1:${port}`, GPUCLOUD_API_KEY: KEY };
  const trusted = { NODE_EXTRA_CA_CERTS: join(computer.home, 'ca.pem') };
  return computer.gpucloud(argv, { env: { ...base, ...trusted, ...env } });
}

describe('TLS', () => {
  test('trusts the certificate in NODE_EXTRA_CA_CERTS', async () => {
    const { code, stdout } = await gpucloud(CREATE);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: ID });
    expect(requests).toEqual(['GET /users/me', 'POST /instances']);
  });

  test('exits with 6 before any request for an untrusted certificate', async () => {
    const { code, stderr } = await gpucloud(CREATE, { NODE_EXTRA_CA_CERTS: '' });
    expect(code).toBe(6);
    expect(errorOf(stderr).message).toMatch(/TLS.*\(\w*SELF_SIGNED\w*\)/);
    expect(requests).toEqual([]);
  });

  test.each(['no-such-file', '.', 'empty.pem'])(
    'names the variable if NODE_EXTRA_CA_CERTS names %s',
    async (name) => {
      await writeFile(join(computer.home, 'empty.pem'), '');
      const extra = { NODE_EXTRA_CA_CERTS: join(computer.home, name) };
      const { code, stderr } = await gpucloud(CREATE, extra);
      expect(code).toBe(6);
      // Node.js prints this line before the program starts.
      expect(errorOf(stderr.replace(/^Warning: Ignoring extra certs .*\n/, ''))).toMatchObject({
        message: expect.stringMatching(/TLS.*\(\w*SELF_SIGNED\w*\)/),
        hint: expect.stringMatching(
          /^Set NODE_EXTRA_CA_CERTS to a PEM file .* If it is set, correct/,
        ),
      });
      expect(requests).toEqual([]);
    },
  );

  test('exits with 2 before any request if NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    for (const argv of [CREATE, GET]) {
      const { code, stderr } = await gpucloud(argv, {
        NODE_EXTRA_CA_CERTS: '',
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
      });
      expect(code).toBe(2);
      expect(errorOf(stderr)).toMatchObject({
        message: expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED=0'),
        hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
      });
    }
    expect(requests).toEqual([]);
  });

  test("exits with 6 before any request for another host's certificate", async () => {
    const { code, stderr } = await gpucloud(CREATE, {
      GPUCLOUD_BASE_URL: `https://0.0.0.0:${port}`,
    });
    expect(code).toBe(6);
    expect(errorOf(stderr).message).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID/);
    expect(requests).toEqual([]);
  });

  test('exits with 7 if the service resets the connection after a POST', async () => {
    onPost = 'reset';
    const { code, stderr } = await gpucloud(CREATE);
    expect(code).toBe(7);
    expect(errorOf(stderr)).toMatchObject({ may_be_billing: true });
    expect(requests).toEqual(['GET /users/me', 'POST /instances']);
  });

  test('ignores a 103 Early Hints before the response', async () => {
    onPost = 'make after 103';
    const { code, stdout } = await gpucloud(CREATE);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: ID });
  });
});

const GET = ['instances', 'get', ID, '--json'];

describe('instances get', () => {
  // With this variable, the executable's runtime prints every header.
  test('omits the API key if BUN_CONFIG_VERBOSE_FETCH is set', async () => {
    const { code, stdout, stderr } = await gpucloud(GET, { BUN_CONFIG_VERBOSE_FETCH: 'curl' });
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(KEY);
  });
});

describe('HTTPS_PROXY', () => {
  test('sends the user and password in HTTPS_PROXY to the proxy', async () => {
    const at = await listen(proxy('open', 'me:p@ss'));
    const { code, stdout } = await gpucloud(CREATE, {
      HTTPS_PROXY: `http://me:p%40ss@127.0.0.1:${at}`,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: ID });
    expect(new Set(tunnels)).toEqual(new Set([`127.0.0.1:${port} Basic bWU6cEBzcw==`]));
    expect(requests).toEqual(['GET /users/me', 'POST /instances']);
  });

  test.each([
    ['refuse', /407/],
    ['reset', /connection closed/],
  ] as const)('exits with 6 before any request if the proxy fails: %s', async (how, says) => {
    const at = await listen(proxy(how));
    const { code, stderr } = await gpucloud(CREATE, { HTTPS_PROXY: `http://127.0.0.1:${at}` });
    expect(code).toBe(6);
    expect(errorOf(stderr).message).toMatch(says);
    expect(tunnels.length).toBeGreaterThan(0);
    expect(requests).toEqual([]);
  });

  test('exits with 7 if the service resets the tunnel after a POST', async () => {
    onPost = 'reset';
    const at = await listen(proxy('open'));
    const { code } = await gpucloud(CREATE, { HTTPS_PROXY: `http://127.0.0.1:${at}` });
    expect(code).toBe(7);
    expect(requests).toEqual(['GET /users/me', 'POST /instances']);
  });
});
