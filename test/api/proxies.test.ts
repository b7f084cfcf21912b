import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { createSecureContext, connect as tlsConnect } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createConnector } from '../../src/api/http/connect.ts';
import { proxyFor } from '../../src/api/http/proxy.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';
import { apiFor, CREATE, closedPort, failureOf, KEY, rawServer, urlOf } from './harness.ts';

describe('proxy selection', () => {
  const P = 'http://proxy.example:3128';
  const chosen = (target: string, env: Record<string, string>) => {
    const proxy = proxyFor(new URL(target), env);
    return proxy === undefined ? 'none' : `${proxy.url.hostname}:${proxy.port}`;
  };

  test.each<[string, Record<string, string>, string]>([
    ['https://a.example', {}, 'none'],
    ['https://a.example', { HTTPS_PROXY: P }, 'proxy.example:3128'],
    [
      'https://a.example',
      { https_proxy: P, HTTPS_PROXY: 'http://no.example' },
      'proxy.example:3128',
    ],
    ['https://a.example', { https_proxy: '', HTTPS_PROXY: P }, 'proxy.example:3128'],
    ['https://a.example', { http_proxy: P }, 'none'],
    ['https://a.example', { ALL_PROXY: P }, 'proxy.example:3128'],
    ['https://a.example', { all_proxy: P, NO_PROXY: 'b.example' }, 'proxy.example:3128'],
    ['http://127.0.0.1:80', { http_proxy: P, HTTP_PROXY: P, ALL_PROXY: P }, 'none'],
    ['http://localhost:80', { http_proxy: P, HTTP_PROXY: P, ALL_PROXY: P }, 'none'],
    ['http://[::1]:80', { http_proxy: P, HTTP_PROXY: P, ALL_PROXY: P }, 'none'],
    ['https://a.example', { https_proxy: 'proxy.example' }, 'proxy.example:1080'],
    ['https://a.example', { https_proxy: 'http://proxy.example:80/' }, 'proxy.example:80'],
    ['https://a.example', { https_proxy: 'https://proxy.example' }, 'proxy.example:443'],
    ['https://a.example', { https_proxy: 'http://u:p%40:x@proxy.example:8' }, 'proxy.example:8'],
    [
      'https://a.example',
      { https_proxy: 'http://CORP\\jdoe:p@proxy.example:8' },
      'proxy.example:8',
    ],
    ['https://a.example', { https_proxy: 'CORP\\jdoe@proxy.example' }, 'proxy.example:1080'],
    ['https://a.example', { https_proxy: `${P} ` }, 'proxy.example:3128'],
    ['https://a.example', { https_proxy: ` ${P}\r\n` }, 'proxy.example:3128'],
    ['https://a.example', { https_proxy: 'http://u:p@q@proxy.example:8/x' }, 'proxy.example:8'],
    ['https://a.example', { https_proxy: 'http://[::1]:8' }, '[::1]:8'],
    ['https://a.example', { https_proxy: 'http://[::1]' }, '[::1]:1080'],
    ['https://a.example', { HTTPS_PROXY: 'HTTP://Proxy.Example:8' }, 'proxy.example:8'],
  ])('selects for %s with variables %j the proxy %s', (target, env, expected) => {
    expect(chosen(target, env)).toBe(expected);
  });

  test.each([
    ['*', true],
    ['a.example', true],
    ['A.Example', true],
    ['.example', true],
    ['example', true],
    ['*.example', true],
    ['x, a.example', true],
    ['x a.example y', true],
    ['a.example:443', true],
    ['a.example:8443', false],
    ['le', false],
    ['b.example', false],
    ['.a.example.org', false],
    ['', false],
    ['.', false],
    [':443', false],
    ['a.example/8', false],
  ])('bypasses the proxy for hosts in NO_PROXY %j: %s', (list, exempt) => {
    const found = chosen('https://a.example', { HTTPS_PROXY: P, NO_PROXY: list });
    expect(found === 'none').toBe(exempt);
  });

  test.each([
    ['https://127.0.0.1:8080', '127.0.0.1', true],
    ['https://127.0.0.1:8080', '127.0.0.1:8080', true],
    ['https://127.0.0.1:8080', '127.0.0.0/8', true],
    ['https://127.0.0.1:8080', '127.0.0.1/32', true],
    ['https://127.0.0.1:8080', '127.0.0.2/32', false],
    ['https://127.0.0.1:8080', '127.0.0.1/33', false],
    ['https://127.0.0.1:8080', '10.0.0.0/8', false],
    ['https://127.0.0.1:8080', '127.0.0.0/99', false],
    ['https://127.0.0.1:8080', '::/0', false],
    ['https://127.0.0.1:8080', '127.0.0.0/', false],
    ['https://127.0.0.1:8080', '127.0.0.0/0x8', false],
    ['https://127.0.0.1:8080', '127.0.0.0/8.0', false],
    ['https://[::1]:8080', 'b.example, [::]/64', true],
    ['https://[::1]:8080', '0.0.0.0/0', false],
    ['https://[::1]:8080', '::1', true],
    ['https://[::1]:8080', '[::1]', true],
    ['https://[::1]:8080', '[::1]:8080', true],
    ['https://[::1]:8080', '::/64', true],
    ['https://[::1]:8080', '::1/128', true],
    ['https://[::1]:8080', '::1/129', false],
    ['https://localhost:8080', '', false],
  ])('bypasses the proxy for %s with NO_PROXY %j: %s', (target, list, exempt) => {
    expect(chosen(target, { https_proxy: P, no_proxy: list }) === 'none').toBe(exempt);
  });

  test.each([
    ['http://CORP\\jdoe:p%25:w@proxy.example:8', 'CORP\\jdoe:p%:w'],
    ['http://user@proxy.example', 'user:'],
    ['http://:p@proxy.example', ':p'],
    ['http://u:100%@proxy.example', 'u:100%'],
    ['http://proxy.example', undefined],
  ])('sends to the proxy %s the login %j', (https_proxy, login) => {
    const { authorization } = proxyFor(new URL('https://a.example'), { https_proxy }) ?? {};
    const sent = authorization?.replace('Basic ', '');
    expect(sent && Buffer.from(sent, 'base64').toString()).toBe(login);
  });

  test.each([
    ...['socks5h://p.example', 'socks5://u:canary@p.example:1080', 'SOCKS4://p.example'],
    ...['ftp://u:canary@p.example', '1http://p.example', 'http://u:canary@:x'],
    ...['xsocks://p.example', 'xhttp://p.example', 'httpx://p.example'],
    // Not a host named `http`.
    ...['http:/proxy.example:8', 'http:\\\\proxy.example:8', 'https//proxy.example'],
  ])('rejects the proxy %s without showing its password', async (https_proxy) => {
    const api = apiFor('https://a.example', { env: { https_proxy } });
    const { failure, message, hint } = await failureOf(api.users.me());
    expect([failure, message, hint]).toMatchSnapshot();
  });
});

/** Starts a proxy that tunnels CONNECT and records requests. */
async function proxy() {
  const seen: { line: string; headers: Record<string, unknown> }[] = [];
  const server = createHttpServer((request, response) => {
    seen.push({ line: `${request.method} ${request.url}`, headers: request.headers });
    response.writeHead(502).end();
  });
  server.on('connect', (request, socket: Socket, head: Buffer) => {
    seen.push({ line: `CONNECT ${request.url}`, headers: request.headers });
    const port = Number(request.url?.split(':').at(-1));
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    for (const end of [socket, onward]) end.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: urlOf(server), seen };
}

const TRUSTED = { ca: CERTIFICATE };

async function secureService() {
  const requests: string[] = [];
  const server = createHttpsServer(
    { cert: CERTIFICATE, key: CERTIFICATE_KEY },
    (request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.end('{"data":{"id":"user-1"}}');
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: urlOf(server).replace('http:', 'https:'), requests };
}

test("sends no request if the service's certificate is untrusted", async () => {
  const through = await proxy();
  const service = await secureService();
  let sending = 0;
  const api = apiFor(service.url, { env: { https_proxy: through.url } });
  const error = await failureOf(
    api.instances.create(CREATE, {
      onSending: () => {
        sending += 1;
      },
    }),
  );
  expect(error).toMatchObject({ failure: 'unreachable', mayBeBilling: false });
  expect(error.message).toContain('could not open a trusted TLS connection');
  expect(sending).toBe(0);
  expect(service.requests).toEqual([]);
  expect(through.seen.map(({ line }) => line)).toEqual(
    Array(3).fill(`CONNECT ${new URL(service.url).host}`),
  );
  expect(JSON.stringify(through.seen)).not.toContain(KEY);
});

test('tunnels TLS to the service', async () => {
  const through = await proxy();
  const service = await secureService();
  const { Client } = await import('undici');
  const { request } = await import('node:http');
  const connector = createConnector(
    {
      tls: { connect: tlsConnect, createSecureContext: () => createSecureContext(TRUSTED) },
      http: request,
    },
    { url: new URL(through.url), port: Number(new URL(through.url).port) },
    () => undefined,
  );
  const client = new Client(service.url, { connect: connector.connect });
  const answer = await client.request({ method: 'GET', path: '/users/me' });
  expect(await answer.body.text()).toContain('user-1');
  expect(service.requests).toEqual(['GET /users/me']);
  expect(through.seen[0]?.line).toBe(`CONNECT ${new URL(service.url).host}`);
  await client.close();
});

describe('a call through a failing proxy', () => {
  const through = async (url: string, service = 'https://service.example') =>
    failureOf(apiFor(service, { env: { https_proxy: url } }).instances.create(CREATE));

  test.each([
    [407, 'the proxy requires a user name and password (407)', 'service.example'],
    [403, 'the proxy refused the connection (403)', '[2001:db8::1]'],
    [502, 'the proxy refused the connection (502)', '192.0.2.1:80'],
    [300, 'the proxy refused the connection (300)', '192.0.2.1:8443'],
    [199, 'the proxy refused the connection (199)', '192.0.2.1:8443'],
  ])('reports unreachable if the proxy answers CONNECT with %i', async (code, words, host) => {
    const asked: (string | undefined)[] = [];
    const server = createHttpServer();
    server.on('connect', ({ url, headers }, socket: Socket) => {
      asked.push(url, headers.host);
      socket.on('error', () => undefined);
      socket.end(`HTTP/1.1 ${code} No\r\ncontent-length: 2\r\n\r\nno`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const error = await through(urlOf(server), `https://${host}`);
    expect(error).toMatchObject({
      failure: 'unreachable',
      mayBeBilling: false,
      message: `Could not reach the service: ${words}. No changes made.`,
    });
    const authority = /:\d+$/.test(host) ? host : `${host}:443`;
    expect(asked).toEqual(Array(6).fill(authority));
  });

  test('fails after three tries if the proxy closes the connection during the handshake', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.once('data', () => socket.destroy());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    expect((await through(urlOf(server))).failure).toBe('unreachable');
    expect(connections).toBe(3);
  });

  test('fails at the deadline if the proxy never responds', async () => {
    const server = await rawServer(() => undefined);
    const api = apiFor('https://service.example', {
      env: { https_proxy: server.url },
      timeoutMs: 200,
    });
    expect((await failureOf(api.instances.create(CREATE))).failure).toBe('unreachable');
  });

  test('reports unreachable if the proxy is not running', async () => {
    expect((await through(await closedPort())).failure).toBe('unreachable');
  });
});
