import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, listenOn } from '../support/ports.ts';

/** The points, in order, at which the proxy can cut a rental. */
export const POINTS = [
  'refused',
  'accepted',
  'headers',
  'half request',
  'request',
  'acted',
  'status line',
  'answer headers',
  'half answer',
  'answered',
] as const;
export type Point = (typeof POINTS)[number];

/** A failure between the program and the service, which affects one request. */
export interface Fault {
  readonly name: string;
  /** Closes the connection at this point. */
  readonly cut?: Point;
  /** Resets the connection. */
  readonly reset?: true;
  /** Responds with the proxy's own status. */
  readonly status?: number;
  /** The service receives the request. Defaults to true without a `status`. */
  readonly acts?: boolean;
  /** Changes the body of the response. */
  readonly body?: (body: string) => string;
  /** Returns another instance in the response. */
  readonly strange?: true;
  readonly framing?: 'length' | 'chunked' | 'close';
  /** Sends single bytes, or nothing after half of the response. */
  readonly slow?: 'dribble' | 'stall';
}

const CUTS = POINTS.filter((point) => point !== 'answered');

export const NO_FAULT: Fault = { name: 'no fault' };

export const FAULTS: readonly Fault[] = [
  NO_FAULT,
  ...CUTS.map((cut): Fault => ({ name: `cut: ${cut}`, cut })),
  ...CUTS.filter((cut) => cut !== 'refused').map(
    (cut): Fault => ({ name: `reset: ${cut}`, cut, reset: true }),
  ),
  { name: 'reset: after the whole answer', cut: 'answered', reset: true },
  { name: 'cut by chunk', cut: 'half answer', framing: 'chunked' },
  { name: 'cut by close', cut: 'half answer', framing: 'close' },
  ...[500, 502, 503, 408].flatMap((status): Fault[] => [
    { name: `${status} and nothing done`, status, acts: false },
    { name: `${status} and done`, status, acts: true },
  ]),
  { name: '429 and nothing done', status: 429, acts: false },
  { name: '409 and nothing done', status: 409, acts: false },
  { name: 'one byte at a time', slow: 'dribble' },
  { name: 'no end', slow: 'stall' },
  { name: 'no answer', slow: 'stall', framing: 'close' },
  { name: 'HTML', body: () => '<html><body>It works!</body></html>' },
  { name: 'an empty answer', body: () => '' },
  { name: 'no id', body: (body) => body.replace(/"id":"[^"]*",/, '') },
  { name: 'an id that is a number', body: (body) => body.replace(/"id":"[^"]*"/, '"id":17') },
  { name: 'an id that is a path', body: (body) => body.replace(/"id":"[^"]*"/, '"id":"../.."') },
  {
    name: 'another name',
    body: (body) => body.replace(/"name":"[^"]*"/, '"name":"of-another-instance"'),
    strange: true,
  },
  { name: 'a wrong type behind the id', body: (body) => body.replace('"PROVISIONING"', '[7]') },
];

/** Returns whether the whole ID reaches the program, which must then store it. */
export function bringsId({ cut, reset, status, slow, framing, body, name }: Fault): boolean {
  // A reset may arrive before earlier bytes.
  if (status !== undefined || reset === true) return false;
  if (slow === 'stall' && framing === 'close') return false;
  if (body !== undefined) return name === 'a wrong type behind the id';
  return cut === undefined || cut === 'half answer';
}

export interface CuttingProxy {
  readonly url: string;
  /**
   * Counts POSTs that rent, on connections since the last `arm`. A POST of a killed program counts
   * for the fault under which it connected.
   */
  readonly posts: number;
  /** Sets the next fault, and the callback for each point that a POST reaches. */
  arm(fault: Fault, onPoint?: (point: Point) => void | Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy that forwards requests to a service, and can cut them at any point. */
export async function startProxy(target: string): Promise<CuttingProxy> {
  const upstream = Number(new URL(target).port);
  let fault = NO_FAULT;
  let onPoint: (point: Point) => void | Promise<void> = () => undefined;
  let counter = { posts: 0 };
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // Ignores resets, which killed programs cause.
    socket.on('error', () => undefined);
    serve(socket).catch(() => socket.destroy());
  });
  // `arm` releases this port and opens it again.
  await listenOn(server, await freePort());
  const { port } = server.address() as AddressInfo;

  async function serve(socket: Socket): Promise<void> {
    const now = fault;
    const tell = onPoint;
    const counted = counter;
    if (now.cut === 'accepted') {
      await tell('accepted');
      end(socket, now);
      return;
    }
    await tell('accepted');
    const reader = readerOf(socket);
    const head = await reader.head();
    if (head === undefined) {
      socket.destroy();
      return;
    }
    const isRental = /^POST \/instances(\/[^/ ]+\/reorder)? /.test(head);
    if (isRental) counted.posts += 1;
    const plan = isRental ? now : NO_FAULT;
    const reach = async (point: Point): Promise<boolean> => {
      if (isRental) await tell(point);
      if (plan.cut === point) end(socket, plan);
      return plan.cut === point;
    };
    if (await reach('headers')) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    const half = await reader.body(Math.floor(length / 2));
    const request = head
      .replace(/\r\nconnection:[^\r]*/i, '')
      .replace('\r\n', '\r\nconnection: close\r\n');
    if (plan.cut === 'half request') {
      await forward(Buffer.concat([Buffer.from(request, 'latin1'), half]), true);
    }
    if (await reach('half request')) return;
    const rest = await reader.body(length - half.length);
    if (await reach('request')) return;
    const whole = Buffer.concat([Buffer.from(request, 'latin1'), half, rest]);
    const answer = plan.acts === false ? '' : await forward(whole, false);
    if (await reach('acted')) return;
    await send(socket, plan, answer, reach);
  }

  /**
   * Forwards a request and returns the raw response. After half a request, closes the connection.
   */
  function forward(bytes: Buffer, isHalf: boolean): Promise<string> {
    return new Promise((resolve, reject) => {
      const onward = connect(upstream, '127.0.0.1', () => {
        onward.write(bytes);
        if (isHalf) onward.end();
      });
      const parts: Buffer[] = [];
      onward.on('data', (part) => parts.push(part));
      onward.on('error', reject);
      onward.on('close', () => resolve(Buffer.concat(parts).toString('utf8')));
    });
  }

  return {
    url: `http://127.0.0.1:${port}`,
    get posts() {
      return counter.posts;
    },
    async arm(next, tell = () => undefined) {
      fault = next;
      onPoint = tell;
      counter = { posts: 0 };
      const isListening = server.listening;
      if (next.cut === 'refused' && isListening) {
        await new Promise((resolve) => {
          server.close(resolve);
          for (const socket of sockets) socket.destroy();
        });
      }
      if (next.cut !== 'refused' && !isListening) await listenOn(server, port);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function send(
  socket: Socket,
  plan: Fault,
  answer: string,
  reach: (point: Point) => Promise<boolean>,
): Promise<void> {
  const split = answer.indexOf('\r\n\r\n');
  const status = plan.status ?? Number(answer.split(' ')[1]);
  const told = plan.status === undefined ? answer.slice(split + 4) : `{"statusCode":${status}}`;
  const body = plan.body?.(told) ?? told;
  const framing = plan.framing ?? 'length';
  if (plan.slow === 'stall' && framing === 'close') return;
  if (await write(socket, `HTTP/1.1 ${status} Told\r\n`)) return;
  if (await reach('status line')) return;
  const length =
    framing === 'length'
      ? `content-length: ${Buffer.byteLength(body)}\r\n`
      : framing === 'chunked'
        ? 'transfer-encoding: chunked\r\n'
        : '';
  const [date = ''] = /^date: .*\r\n/im.exec(answer.slice(0, split + 2)) ?? [];
  await write(
    socket,
    `${date}content-type: application/json\r\nconnection: close\r\n${length}\r\n`,
  );
  if (await reach('answer headers')) return;
  // The first part contains the ID, so that a cut body still includes it.
  const middle = Math.ceil(body.length * 0.75);
  for (const [at, part] of [body.slice(0, middle), body.slice(middle)].entries()) {
    const bytes =
      framing === 'chunked' ? `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n` : part;
    for (const piece of plan.slow === 'dribble' ? bytes : [bytes]) await write(socket, piece);
    if (at === 0 && ((await reach('half answer')) || plan.slow === 'stall')) return;
  }
  if (framing === 'chunked') await write(socket, '0\r\n\r\n');
  if (await reach('answered')) return;
  socket.end();
}

/** Writes, then pauses so that the peer reads the text separately. */
async function write(socket: Socket, text: string): Promise<boolean> {
  if (socket.destroyed) return true;
  socket.write(text);
  await pause(1);
  return socket.destroyed;
}

function end(socket: Socket, { reset }: Fault): void {
  if (reset === true) socket.resetAndDestroy();
  else socket.destroySoon();
}

interface Reader {
  head(): Promise<string | undefined>;
  body(length: number): Promise<Buffer>;
}

function readerOf(socket: Socket): Reader {
  let held = Buffer.alloc(0);
  let ended = false;
  let wake: () => void = () => undefined;
  socket.on('data', (part) => {
    held = Buffer.concat([held, part]);
    wake();
  });
  for (const event of ['end', 'close'] as const) {
    socket.on(event, () => {
      ended = true;
      wake();
    });
  }
  const more = () =>
    ended
      ? Promise.reject(new Error('the program has gone'))
      : new Promise<void>((resolve) => {
          wake = resolve;
        });
  return {
    async head() {
      for (;;) {
        const at = held.indexOf('\r\n\r\n');
        if (at >= 0) {
          const head = held.subarray(0, at + 4).toString('latin1');
          held = held.subarray(at + 4);
          return head;
        }
        if (ended) return undefined;
        await more();
      }
    },
    async body(length) {
      while (held.length < length) await more();
      const part = held.subarray(0, length);
      held = held.subarray(length);
      return part;
    },
  };
}
