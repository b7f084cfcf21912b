import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A machine as the fake service keeps it. */
export interface Machine {
  readonly id: string;
  readonly name: string;
  status: string;
}

/** A service with a memory: what it was asked to rent, and what therefore exists and bills. */
export interface Books {
  readonly url: string;
  /** Every machine that a request made, by id. The one to reorder is not among them. */
  readonly machines: ReadonlyMap<string, Machine>;
  /** How many POSTs asked for a machine of this name. */
  posts(name: string): number;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A terminated machine, for `instances reorder`. */
export const SOURCE = '11111111-2222-4333-8444-555555555555';

const ok = (data: unknown, code = 200): Answer => ({
  status: code,
  body: { status: 'success', code, data },
});

export interface BooksOptions {
  /** Put into every answer to a creation, as an echo of what was sent. */
  readonly echo?: (body: unknown) => Record<string, unknown>;
}

export async function openBooks({ echo }: BooksOptions = {}): Promise<Books> {
  const machines = new Map<string, Machine>();
  const asked = new Map<string, number>();
  const answer = (method: string, path: string, body: unknown): Answer => {
    if (method === 'POST' && /^\/instances(\/[^/]+\/reorder)?$/.test(path)) {
      const fields = body as { instance_name?: string; new_name?: string };
      const name = fields.instance_name ?? fields.new_name ?? '';
      asked.set(name, (asked.get(name) ?? 0) + 1);
      const machine = { id: randomUUID(), name, status: 'PROVISIONING' };
      machines.set(machine.id, machine);
      return ok({ ...machine, price_per_hour_snapshot: '189.91', ...echo?.(body) }, 201);
    }
    if (path === '/users/me') return ok({ id: 'user-1', email: 'ann@example.com' });
    if (path.startsWith('/storage/drives')) return ok([]);
    const id = path.split('/')[2] ?? '';
    if (id === SOURCE) return ok({ id: SOURCE, name: 'source', status: 'TERMINATED' });
    const machine = machines.get(id);
    return machine === undefined
      ? { status: 404, body: { statusCode: 404, message: 'Instance not found', error: 'No' } }
      : ok(machine);
  };
  const server = createServer((incoming, outgoing) => {
    // A request that is cut short is none, and nobody is there to hear of it.
    reply(incoming, outgoing, answer).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    machines,
    posts: (name) => asked.get(name) ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function reply(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (method: string, path: string, body: unknown) => Answer,
): Promise<void> {
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
  const asked = text === '' ? undefined : JSON.parse(text);
  const { status, body } = answer(incoming.method ?? '', incoming.url ?? '', asked);
  const json = JSON.stringify(body);
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(json),
  });
  outgoing.end(json);
}
