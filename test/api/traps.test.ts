import { createServer } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { RawResponse } from '../../src/api/index.ts';
import { envelope } from '../support/service.ts';
import { turns } from '../support/until.ts';
import {
  apiFor,
  CREATE,
  data,
  failureOf,
  ID,
  instance,
  KEY,
  rawServer,
  scripted,
  status,
  urlOf,
} from './harness.ts';

const USER = JSON.stringify(envelope({ id: 'user-1' }));
const INSTANCE = JSON.stringify(envelope(instance('PROVISIONING'), 201));

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])(
    'never sends the key to another host after a %i redirect',
    async (code) => {
      const other = await scripted(data({ id: 'thief' }));
      const server = await scripted(status(code, { location: `${other.url}/users/me?key=${KEY}` }));
      const error = await failureOf(apiFor(server.url).users.me());
      expect(error).toMatchObject({ failure: 'notUnderstood', httpStatus: code });
      expect(error.message).toContain(new URL(other.url).host);
      expect(error.message).not.toContain(KEY);
      expect(other.seen).toEqual([]);
      expect(server.seen).toHaveLength(1);
    },
  );

  test('does not resend a POST after a 307, even to the same host', async () => {
    const server = await scripted(
      status(307, { location: '/elsewhere' }),
      data(instance('X'), 201),
    );
    const error = await failureOf(apiFor(server.url).instances.create(CREATE));
    expect(error.failure).toBe('outcomeUnknown');
    expect(server.calls()).toEqual(['POST /instances']);
  });

  test('does not resend a POST after a 421', async () => {
    const server = await scripted(status(421), data(instance('X'), 201));
    expect((await failureOf(apiFor(server.url).instances.create(CREATE))).failure).toBe('refused');
    expect(server.calls()).toEqual(['POST /instances']);
  });
});

/** Lets the test advance timers. Sockets stay real. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

async function until(fits: () => boolean): Promise<void> {
  for (let turns = 0; !fits(); turns += 1) {
    if (turns > 1_000_000) throw new Error('what was waited for did not come');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the deadline', () => {
  test('stops reading a slow body that never finishes', async () => {
    let drops = 0;
    const server = await scripted((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' ', () => (drops += 1)), 20);
      onTestFinished(() => clearInterval(timer));
    });
    holdTimers();
    let isOver = false;
    const ended = failureOf(apiFor(server.url, { timeoutMs: 400 }).users.me()).finally(() => {
      isOver = true;
    });
    await until(() => drops >= 3);
    vi.advanceTimersByTime(399);
    // A timer that restarts at each byte would never fire.
    await until(() => drops >= 6);
    expect(isOver).toBe(false);
    vi.advanceTimersByTime(1);
    const error = await ended;
    expect(error.failure).toBe('unreachable');
    expect(error.message).toContain('0.4 s');
  });

  test('stops waiting for response headers at the deadline', async () => {
    const server = await rawServer(() => undefined);
    const error = await failureOf(apiFor(server.url, { timeoutMs: 200 }).users.me());
    expect(error.failure).toBe('unreachable');
  });

  test('does not delay the error if the connection closes after an interim response', async () => {
    const server = await rawServer((socket) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n'));
    const error = await failureOf(apiFor(server.url).users.me());
    expect(error.failure).toBe('unreachable');
  });

  test("uses the call's timeout instead of a longer one in the settings", async () => {
    const server = await rawServer(() => undefined);
    const error = await failureOf(apiFor(server.url).users.me({ timeoutMs: 150 }));
    expect(error.message).toContain('within 0.15 s');
  });

  test('stops waiting for a connection at the deadline, and reports that the POST was not sent', async () => {
    // Accepts the connection but never responds to the TLS hello.
    let isAsked = false;
    const server = await rawServer(() => {
      isAsked = true;
    });
    const api = apiFor(server.url.replace('http:', 'https:'), { timeoutMs: 200 });
    holdTimers();
    const ended = failureOf(api.instances.create(CREATE));
    await until(() => isAsked);
    vi.advanceTimersByTime(200);
    expect(await ended).toMatchObject({ failure: 'unreachable', mayBeBilling: false });
    await api.close();
    expect(server.connections()).toBe(1);
  });

  test('leaves the outcome of a POST unknown if no response arrives in time', async () => {
    let isAsked = false;
    const server = await rawServer(() => {
      isAsked = true;
    });
    holdTimers();
    const ended = failureOf(apiFor(server.url, { timeoutMs: 200 }).instances.create(CREATE));
    await until(() => isAsked);
    vi.advanceTimersByTime(200);
    expect(await ended).toMatchObject({ failure: 'outcomeUnknown', mayBeBilling: true });
    expect(server.connections()).toBe(1);
  });

  test('passes a cut response to onResponse, so that its ID is saved', async () => {
    const part = INSTANCE.slice(0, -5);
    const server = await rawServer((socket) => {
      socket.write(`HTTP/1.1 201 Created\r\ncontent-length: ${INSTANCE.length}\r\n\r\n${part}`);
    });
    const answers: RawResponse[] = [];
    await failureOf(
      apiFor(server.url, { timeoutMs: 1500 }).instances.create(CREATE, {
        onResponse: async (answer) => void answers.push(answer),
      }),
    );
    expect(answers).toMatchObject([{ status: 201, text: part, cut: true }]);
  });
});

describe('100 Continue', () => {
  const head = 'HTTP/1.1 100 Continue\r\n\r\n';
  const whole = `HTTP/1.1 201 Created\r\ncontent-length: ${INSTANCE.length}\r\nx: ${head}${INSTANCE}`;

  test.each([
    ['one interim response', head],
    ['two interim responses', head + head],
    [
      'an interim response with header fields',
      'HTTP/1.1 100 Continue\r\ndate: now\r\nx: 1\r\n\r\n',
    ],
  ])(
    'keeps all bytes of the response after %s, however the bytes are split',
    async (_what, before) => {
      const text = before + whole;
      for (const at of [0, 1, 10, 12, before.length - 1, before.length, before.length + 9]) {
        const server = await rawServer(async (socket) => {
          socket.setNoDelay(true);
          if (at > 0) socket.write(text.slice(0, at));
          await turns();
          socket.end(text.slice(at));
        });
        const made = await apiFor(server.url).instances.create(CREATE);
        expect(made.id, `split at ${at}`).toBe(ID);
        expect(server.connections()).toBe(1);
      }
    },
  );

  test.each([
    ['alone', head],
    ['cut', head.slice(0, -3)],
    ['without a line end', `HTTP/1.1 100 ${'x'.repeat(20_000)}`],
  ])('reports the outcome of a POST as unknown if 100 Continue arrives %s', async (_what, text) => {
    const server = await rawServer((socket) => void socket.end(text));
    const error = await failureOf(apiFor(server.url).instances.create(CREATE));
    expect(error).toMatchObject({ failure: 'outcomeUnknown', mayBeBilling: true });
  });
});

describe('a cut body', () => {
  const heads = {
    length: (whole: string) => `HTTP/1.1 201 X\r\ncontent-length: ${whole.length}\r\n\r\n`,
    'length, with connection: close': (whole: string) =>
      `HTTP/1.1 201 X\r\nconnection: close\r\ncontent-length: ${whole.length}\r\n\r\n`,
    chunk: (whole: string) =>
      `HTTP/1.1 201 X\r\ntransfer-encoding: chunked\r\n\r\n${whole.length.toString(16)}\r\n`,
    'chunk, with connection: close': (whole: string) =>
      `HTTP/1.1 201 X\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${whole.length.toString(16)}\r\n`,
    close: () => 'HTTP/1.1 201 X\r\nconnection: close\r\n\r\n',
  };

  test.each(Object.entries(heads))(
    'never counts a cut body as success if framed by %s',
    async (_name, head) => {
      const server = await rawServer((socket, text) => {
        const whole = text.startsWith('POST') ? INSTANCE : USER;
        socket.end(head(whole) + whole.slice(0, -5));
      });
      const api = apiFor(server.url);
      expect((await failureOf(api.users.me())).failure).toBe('notUnderstood');
      const answers: RawResponse[] = [];
      const error = await failureOf(
        api.instances.create(CREATE, { onResponse: async (answer) => void answers.push(answer) }),
      );
      expect(error).toMatchObject({ failure: 'outcomeUnknown', mayBeBilling: true });
      // The ID arrived, so onResponse must receive it.
      expect(answers).toHaveLength(1);
      expect(answers[0]?.text).toContain(ID);
    },
  );

  test('treats a cut body with status 422 as a refusal', async () => {
    const server = await rawServer((socket) => {
      socket.end('HTTP/1.1 422 X\r\ncontent-length: 100\r\n\r\n{"message":');
    });
    const error = await failureOf(apiFor(server.url).instances.create(CREATE));
    expect(error).toMatchObject({ failure: 'refused', httpStatus: 422, mayBeBilling: false });
  });
});

describe('a POST that rents', () => {
  test('sends a create over a new connection, since the server may be closing an idle connection', async () => {
    const ports: (number | undefined)[] = [];
    const server = await scripted(
      (request, response) => {
        ports.push(response.socket?.remotePort);
        data({ id: 'user-1' })(request, response);
      },
      (request, response) => {
        ports.push(response.socket?.remotePort);
        data(instance('PROVISIONING'), 201)(request, response);
      },
    );
    const api = apiFor(server.url);
    await api.users.me();
    // undici reuses a connection only after one turn of the event loop.
    await turns();
    await api.instances.create(CREATE);
    expect(new Set(ports).size).toBe(2);
  });

  test('never resends a create after the connection closes', async () => {
    let requests = 0;
    const server = await rawServer((socket) => {
      requests += 1;
      if (requests % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
    });
    const api = apiFor(server.url);
    for (let round = 1; round <= 10; round += 1) {
      let sending = 0;
      const options = {
        onSending: () => {
          sending += 1;
        },
      };
      const error = await failureOf(api.instances.create(CREATE, options));
      expect(error.failure).toBe('outcomeUnknown');
      expect([sending, requests, server.connections()]).toEqual([1, round, round]);
    }
  });
});

test('calls onSending before the first byte, and sends nothing if onSending throws', async () => {
  const server = await scripted(data({ id: 'user-1' }));
  const seen: number[] = [];
  const api = apiFor(server.url);
  await expect(
    api.instances.create(CREATE, {
      onSending: () => {
        seen.push(server.seen.length);
        throw new Error('the disk is full');
      },
    }),
  ).rejects.toThrow('the disk is full');
  // A later request shows what the server received before it.
  await api.users.me();
  expect({ seen, calls: server.calls() }).toEqual({ seen: [0], calls: ['GET /users/me'] });
});

describe('reading a response body', () => {
  test('stops reading a response body after 16 MiB', async () => {
    let written = 0;
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' });
      const block = Buffer.alloc(1024 * 1024, 0x20);
      const more = () => {
        if (response.destroyed || written >= 100) return;
        written += 1;
        response.write(block, more);
      };
      more();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const error = await failureOf(apiFor(urlOf(server)).users.me());
    server.closeAllConnections();
    server.close();
    expect(error.failure).toBe('notUnderstood');
    expect(error.message).toContain('16 MiB');
    expect(written).toBeLessThan(40);
  });

  const packed = (bytes: Buffer, coding = 'gzip') =>
    scripted((_request, response) => {
      response.writeHead(200, { 'content-encoding': coding });
      response.end(bytes);
    });

  test.each([
    ['gzip', gzipSync(USER)],
    [' X-Gzip', gzipSync(USER)],
    ['deflate', deflateSync(USER)],
    ['br', brotliCompressSync(USER)],
    ['identity', Buffer.from(USER)],
    ['gzip', gzipSync(USER.replace('user-1', '\uFEFFé'))],
  ])('decodes %j that the request did not accept', async (coding, bytes) => {
    const server = await packed(bytes, coding);
    expect((await apiFor(server.url).users.me()).id).toMatch(/^(user-1|\uFEFFé)$/);
    expect(server.seen[0]?.headers['accept-encoding']).toBe('identity');
  });

  test.each([
    ['that expands to 17 MiB', gzipSync(Buffer.alloc(17 * 1024 * 1024))],
    ['that is not gzip', Buffer.from('{}')],
    ['that is cut off', gzipSync(USER).subarray(0, -4)],
    ['of another coding', Buffer.from(USER), 'zstd'],
  ])('rejects a packed body %s', async (_what, bytes, coding = 'gzip') => {
    const server = await packed(bytes, coding);
    expect((await failureOf(apiFor(server.url).users.me())).failure).toBe('notUnderstood');
  });

  test('rejects invalid UTF-8 in a response body', async () => {
    const server = await scripted((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(Buffer.from('{"data":{"id":"user-1","name":"\xff"}}', 'latin1'));
    });
    expect((await failureOf(apiFor(server.url).users.me())).message).toContain('UTF-8');
  });

  test('accepts a byte order mark in a response body', async () => {
    const server = await scripted((_request, response) => void response.end(`\uFEFF${USER}`));
    expect((await apiFor(server.url).users.me()).id).toBe('user-1');
  });
});

test("hides undici's internals, headers and the key in errors", async () => {
  const server = await rawServer((socket) => void socket.end('SSH-2.0-OpenSSH_9\r\n'));
  const error = await failureOf(apiFor(server.url).users.me());
  expect(error.failure).toBe('unreachable');
  expect(error.message).toContain('not HTTP');
  expect(`${error.message} ${error.stack} ${error.cause}`).not.toContain(KEY);
});
