import { Readable } from 'node:stream';
import { createSecureContext, createServer, type TLSSocket, connect as tlsConnect } from 'node:tls';
import { Client } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createConnector } from '../../src/api/http/connect.ts';
import { skipInterim } from '../../src/api/http/interim.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';
import { apiFor, CREATE, failureOf, ID, machine, rawServer, urlOf } from './harness.ts';

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nX: HTTP/1.1 200 OK\r\n\r\n';
const BODY = JSON.stringify({ status: 'success', code: 201, data: machine('PROVISIONING') });
const ANSWER = `HTTP/1.1 201 Created\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

type Bytes = readonly string[];

/** Creates a machine at a service that answers with these packets, then closes if `ends`. */
async function create(packets: Bytes, ends = false) {
  const server = await rawServer(async (socket) => {
    socket.setNoDelay(true);
    for (const packet of packets) {
      await new Promise((resolve) => socket.write(packet, resolve));
      // By then the client has read it, or reads two at once: both have to do.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (ends) socket.end();
  });
  return { created: apiFor(server.url).instances.create(CREATE), server };
}

describe('a create is done after', () => {
  test.each<[string, Bytes]>([
    ['no interim answer', [ANSWER]],
    ['100 Continue', [CONTINUE, ANSWER]],
    ['100 Continue in the same packet', [CONTINUE + ANSWER]],
    ['100 Continue without words', ['HTTP/1.1 100\r\n\r\n', ANSWER]],
    ['100 Continue of HTTP/1.0', ['HTTP/1.0 100 Continue\r\n\r\n', ANSWER]],
    ['one of HTTP/1.0 that is cut anywhere', [...'HTTP/1.0 100 Continue\r\n\r\n', ANSWER]],
    ['one whose lines end in LF alone', ['HTTP/1.1 100 Continue\nX: y\n\n', ANSWER]],
    ['an empty line and one', ['\r\n', CONTINUE, '\r\n', ANSWER]],
    ['two of them', [CONTINUE + CONTINUE, ANSWER]],
    ['102 Processing', ['HTTP/1.1 102 Processing\r\n\r\n', ANSWER]],
    ['103 Early Hints', [HINTS, ANSWER]],
    ['all of them', [HINTS, CONTINUE, HINTS + CONTINUE + ANSWER]],
    ['one that is cut anywhere', [...CONTINUE, ...HINTS, ...ANSWER.slice(0, 60), ANSWER.slice(60)]],
  ])('%s', async (_name, packets) => {
    const { created, server } = await create(packets);
    expect(await created).toEqual(machine('PROVISIONING'));
    expect(server.connections()).toBe(1);
  });
});

test('a PATCH is done after 100 Continue, in one try', async () => {
  const { url, connections } = await rawServer((socket) => {
    socket.write(CONTINUE, () => socket.write(ANSWER.replace('201 Created', '200 OK')));
  });
  await apiFor(url).users.update({ name: 'me' });
  expect(connections()).toBe(1);
});

describe('the outcome of a create stays unknown after', () => {
  test.each<[string, Bytes]>([
    ['100 Continue and nothing else', [CONTINUE]],
    ['half of one', [CONTINUE.slice(0, 15)]],
    ['101', ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n']],
    ['an interim answer of any length', ['HTTP/1.1 103 x\r\n', `X: ${'x'.repeat(40_000)}\r\n\r\n`]],
    ['what is no HTTP', ['HTTP']],
  ])('%s', async (_name, packets) => {
    const { created, server } = await create(packets, true);
    expect((await failureOf(created)).failure).toBe('outcomeUnknown');
    expect(server.connections()).toBe(1);
  });
});

test('an interim answer without end is left to whoever reads the connection', async () => {
  const connection = new Readable({ read: () => undefined });
  skipInterim(connection);
  const endless = `HTTP/1.1 103 x\r\nX: ${'x'.repeat(40_000)}`;
  for (const part of [endless.slice(0, 5), endless.slice(5, 10_000), endless.slice(10_000)]) {
    connection.push(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(String(connection.read())).toBe(endless);
});

test('interim answers are taken off an encrypted connection as well', async () => {
  const server = createServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (socket: TLSSocket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(CONTINUE, () => socket.write(ANSWER)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const trusting = () => createSecureContext({ ca: CERTIFICATE });
  const tls = { connect: tlsConnect, createSecureContext: trusting };
  const connector = createConnector({ tls }, undefined, () => undefined);
  const client = new Client(urlOf(server).replace('http:', 'https:'), {
    connect: (to, done) =>
      connector.connect(to, (...outcome) => {
        if (outcome[1] !== null) skipInterim(outcome[1]);
        done(...outcome);
      }),
  });
  onTestFinished(async () => {
    await client.destroy();
    server.close();
  });
  const { statusCode, body } = await client.request({ method: 'POST', path: '/', body: '{}' });
  expect(statusCode).toBe(201);
  expect(await body.json()).toMatchObject({ data: { id: ID } });
});
