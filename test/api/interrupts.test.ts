import { describe, expect, onTestFinished, test } from 'vitest';
import { createTransport } from '../../src/api/http/transport.ts';
import { CliError } from '../../src/errors.ts';
import {
  apiFor,
  CREATE,
  cut,
  data,
  failureOf,
  fakeClock,
  ID,
  instance,
  rawServer,
  scripted,
  status,
} from './harness.ts';

const INTERRUPT = new CliError('interrupted', 'Interrupted.');

describe.each(['settings', 'options'])('a call with a signal in the %s', (where) => {
  const using = (url: string, signal: AbortSignal) => {
    const api = apiFor(url, where === 'settings' ? { signal } : {});
    return { api, options: where === 'options' ? { signal } : {} };
  };

  test('sends nothing if the signal is already aborted, and throws its reason', async () => {
    const server = await scripted(data(instance('PROVISIONING'), 201));
    const { api, options } = using(server.url, AbortSignal.abort(INTERRUPT));
    await expect(api.instances.create(CREATE, options)).rejects.toBe(INTERRUPT);
    await expect(api.users.me(options)).rejects.toBe(INTERRUPT);
    expect(server.seen).toEqual([]);
  });

  test('rejects a read in flight with the abort reason, and ends its connection', async () => {
    const controller = new AbortController();
    let ended: Promise<unknown> | undefined;
    const server = await rawServer((socket) => {
      ended = new Promise((resolve) => socket.once('close', resolve));
      controller.abort(INTERRUPT);
    });
    const { api, options } = using(server.url, controller.signal);
    await expect(api.users.me(options)).rejects.toBe(INTERRUPT);
    await ended;
  });

  test('reports an unknown outcome for a POST in flight', async () => {
    const controller = new AbortController();
    const server = await rawServer(() => controller.abort(INTERRUPT));
    const { api, options } = using(server.url, controller.signal);
    const error = await failureOf(api.instances.create(CREATE, options));
    expect(error).toMatchObject({ failure: 'outcomeUnknown', mayBeBilling: true });
    expect(error.message).toContain('interrupted before the response arrived');
  });

  test('reports an unknown outcome for terminate and PATCH in flight, without a retry', async () => {
    for (const send of ['terminate', 'update'] as const) {
      const controller = new AbortController();
      const server = await rawServer(() => controller.abort(INTERRUPT));
      const { api, options } = using(server.url, controller.signal);
      const error = await failureOf(
        send === 'terminate'
          ? api.instances.terminate(ID, options)
          : api.users.update({ name: 'Ann' }, options),
      );
      expect(error.failure).toBe('outcomeUnknown');
      expect(server.connections()).toBe(1);
    }
  });

  test('sends nothing if aborted while connecting', async () => {
    const controller = new AbortController();
    const texts: string[] = [];
    const server = await rawServer((socket, text) => {
      texts.push(text.split('\r\n', 1)[0] ?? '');
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
    });
    const { api, options } = using(server.url, controller.signal);
    let sending = 0;
    const calling = api.instances.create(CREATE, {
      ...options,
      onSending: () => {
        sending += 1;
      },
    });
    // Aborts before the transport opens a connection.
    await Promise.resolve();
    controller.abort(INTERRUPT);
    await expect(calling).rejects.toBe(INTERRUPT);
    // A second call shows what the server received before it.
    await failureOf(apiFor(server.url).users.me());
    expect({ texts, sending }).toEqual({ texts: ['GET /users/me HTTP/1.1'], sending: 0 });
  });
});

test.each(['GET', 'POST'])('never sends a %s that was aborted while connecting', async (method) => {
  const texts: string[] = [];
  const server = await rawServer((socket, text) => {
    texts.push(text);
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
  });
  const transport = await createTransport(new URL(server.url), {});
  onTestFinished(() => transport.close());
  const controller = new AbortController();
  let sending = 0;
  const request = { method, path: '/first', headers: {} };
  const exchange = transport.exchange(request, controller.signal, () => {
    sending += 1;
  });
  controller.abort();
  await expect(exchange).rejects.toMatchObject({ sent: false, stopped: true });
  // A second request proves that the transport connects, and shows which requests it wrote.
  await transport.exchange({ ...request, path: '/second' }, new AbortController().signal, () => {});
  expect([sending, texts.filter((text) => text.includes('/first'))]).toEqual([0, []]);
  expect(texts).toHaveLength(1);
});

test.each([
  ['read', 'unreachable'],
  ['rent', 'outcomeUnknown'],
])('fails a %s in flight without a retry when the client closes', async (what, failure) => {
  let requests = 0;
  const server = await rawServer(() => {
    requests += 1;
    void api.close();
  });
  const api = apiFor(server.url, {});
  const call = what === 'read' ? api.users.me() : api.instances.create(CREATE);
  expect((await failureOf(call)).failure).toBe(failure);
  expect(requests).toBe(1);
});

test('rejects a call immediately if aborted during its TLS handshake', async () => {
  const controller = new AbortController();
  // The server receives the first bytes of the handshake and never responds.
  const server = await rawServer(() => controller.abort(INTERRUPT));
  const api = apiFor(server.url.replace('http:', 'https:'), { signal: controller.signal });
  await expect(api.instances.create(CREATE)).rejects.toBe(INTERRUPT);
});

test('reports an abort between tries as the reason for a read, and as an unknown outcome for a PATCH', async () => {
  const paused = async (step: typeof cut) => {
    const controller = new AbortController();
    const clock = fakeClock();
    clock.onSleep = () => controller.abort(INTERRUPT);
    const server = await scripted(step, data({ id: 'user-1' }));
    return { server, api: apiFor(server.url, { clock, signal: controller.signal }) };
  };
  const read = await paused(status(503));
  await expect(read.api.users.me()).rejects.toBe(INTERRUPT);
  expect(read.server.seen).toHaveLength(1);
  const patch = await paused(cut);
  const error = await failureOf(patch.api.users.update({ name: 'Ann' }));
  expect(error.failure).toBe('outcomeUnknown');
});

test('passes the raw response to onResponse, and rethrows its error', async () => {
  const server = await scripted(data({ id: 7 }, 201));
  const full = new CliError('storage', 'The disk is full.');
  const texts: string[] = [];
  const calling = apiFor(server.url).instances.create(CREATE, {
    onResponse: async (answer) => {
      texts.push(answer.text);
      await Promise.resolve();
      throw full;
    },
  });
  // The response is invalid too, but the error from onResponse takes precedence.
  await expect(calling).rejects.toBe(full);
  expect(texts).toEqual(['{"status":"success","code":201,"data":{"id":7}}']);
});

test('passes every response of a call to onResponse, including retries', async () => {
  const server = await scripted(status(500), status(503), status(400));
  const statuses: number[] = [];
  await failureOf(
    apiFor(server.url).instances.get(ID, {
      onResponse: async (answer) => void statuses.push(answer.status),
    }),
  );
  expect(statuses).toEqual([500, 503, 400]);
});
