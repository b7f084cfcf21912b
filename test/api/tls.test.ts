import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, connect as tlsConnect } from 'node:tls';
import { Client } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createConnector } from '../../src/api/http/connect.ts';
import { certificateFault } from '../../src/api/http/extra-certificates.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';
import { apiFor, failureOf, urlOf } from './harness.ts';

async function service() {
  const requests: string[] = [];
  const server = createServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (request, response) => {
    requests.push(request.url ?? '');
    response.end('whole');
  });
  // The names that clients ask for, false for an address, and their protocols.
  const handshakes: unknown[] = [];
  server.on('secureConnection', ({ servername, alpnProtocol }) =>
    handshakes.push([servername, alpnProtocol]),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: urlOf(server).replace('http:', 'https:'), requests, handshakes };
}

/** Sends one GET through Node's TLS, with the given authorities. */
async function get(
  url: string,
  context: typeof createSecureContext,
  meanwhile = () => {},
): Promise<string> {
  const connector = createConnector(
    { tls: { connect: tlsConnect, createSecureContext: context } },
    undefined,
    meanwhile,
  );
  const client = new Client(url, { connect: connector.connect });
  try {
    const answer = await client.request({ method: 'GET', path: '/' });
    return await answer.body.text();
  } finally {
    connector.close();
    await client.destroy();
  }
}

const trusting = () => createSecureContext({ ca: CERTIFICATE });

test('accepts a certificate from a trusted authority', async () => {
  const { url, requests } = await service();
  expect(await get(url, trusting)).toBe('whole');
  expect(requests).toEqual(['/']);
});

// Without the name, a server of several hosts presents another one's certificate.
test.each([
  ['localhost', 'localhost'],
  ['127.0.0.1', false],
])('names the host %s in the handshake: %s', async (host, name) => {
  const { url, handshakes } = await service();
  await get(url.replace('127.0.0.1', host), trusting);
  expect(handshakes).toEqual([[name, 'http/1.1']]);
});

test.each([
  ['http:', ['work', 'work, connected']],
  ['https:', ['authorities', 'work', 'work, connected']],
])('does other work while it connects to %s, and before it returns', async (protocol, steps) => {
  const { url } = await service();
  const seen: string[] = [];
  const context = () => {
    seen.push('authorities');
    return trusting();
  };
  const parts = { tls: { connect: tlsConnect, createSecureContext: context } };
  const connector = createConnector(parts, undefined, () => seen.push('work'));
  const { hostname, port } = new URL(url);
  // Goes on where Node reads files and sockets, so that its work comes before the next connection.
  await stat('/');
  await new Promise<void>((resolve, reject) =>
    connector.connect({ hostname, protocol, port }, (error, socket) => {
      seen.push(`${seen.pop()}, connected`);
      socket?.destroy();
      if (error === null) resolve();
      else reject(error);
    }),
  );
  expect(seen).toEqual(steps);
});

test("runs other work while waiting for the peer's handshake", async () => {
  const { url, requests, handshakes } = await service();
  const seen: unknown[] = [];
  await get(url, trusting, () => seen.push([...requests, ...handshakes]));
  expect(seen[0]).toEqual([]);
  expect(requests).toEqual(['/']);
});

test('rejects a certificate from an unknown authority, and sends nothing', async () => {
  const { url, requests } = await service();
  await expect(get(url, createSecureContext)).rejects.toMatchObject({
    code: expect.stringMatching(/SELF_SIGNED|ISSUER|VERIFY/),
  });
  expect(requests).toEqual([]);
});

test('rejects a certificate for another host, and sends nothing', async () => {
  const { url, requests } = await service();
  // 0.0.0.0 also reaches this computer, but the certificate does not include it.
  await expect(get(url.replace('127.0.0.1', '0.0.0.0'), trusting)).rejects.toMatchObject({
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
  expect(requests).toEqual([]);
});

test('sends nothing if NODE_TLS_REJECT_UNAUTHORIZED turns certificate checks off', async () => {
  const { url, handshakes } = await service();
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const error = await failureOf(apiFor(url, { env }).users.me());
  expect(error).toMatchObject({ failure: 'usage', mayBeBilling: false });
  expect(error.message).toMatch(/^NODE_TLS_REJECT_UNAUTHORIZED=0 turns off certificate checks/);
  expect(handshakes).toEqual([]);
});

test("sends nothing if TLS can't be initialized", async () => {
  const { url, requests } = await service();
  const broken = () => {
    throw new Error('no cipher suites');
  };
  await expect(get(url, broken)).rejects.toMatchObject({ code: 'ERR_TLS_NOT_READY' });
  expect(requests).toEqual([]);
});

test('drops a handshake in progress when it is closed', async () => {
  const silent = createTcpServer();
  onTestFinished(() => void silent.close());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = new URL(urlOf(silent));
  const parts = { tls: { connect: tlsConnect, createSecureContext: trusting } };
  const connector = createConnector(parts, undefined, () => undefined);
  const failed = new Promise((resolve) =>
    connector.connect({ hostname: '127.0.0.1', protocol: 'https:', port }, (...[error]) =>
      resolve(error),
    ),
  );
  await once(silent, 'connection');
  connector.close();
  expect(await failed).toMatchObject({ code: 'ECONNRESET' });
});

test.each<[what: string, content: string | Buffer | undefined, fault: object | undefined]>([
  ['a certificate', CERTIFICATE, undefined],
  ['a certificate after other text', `Mine:\n${CERTIFICATE}`, undefined],
  ['a cut certificate', CERTIFICATE.slice(0, 200), { what: 'has a damaged certificate' }],
  ['a key', CERTIFICATE_KEY, { what: 'contains no PEM certificate' }],
  ['DER', Buffer.from([0x30, 0x82, 1]), { what: 'is in DER format, not PEM', isDer: true }],
  ['nearly DER', Buffer.from([0x30, 0x81, 1]), { what: 'contains no PEM certificate' }],
  ['nothing', '', { what: 'is empty' }],
  ['no file', undefined, { what: "can't be read (ENOENT)" }],
])('says what is wrong with a file of certificates: %s', async (_what, content, fault) => {
  const file = join(await temporaryFolder(), 'ca.pem');
  if (content !== undefined) await writeFile(file, content);
  expect(certificateFault(file)).toEqual(fault);
});
