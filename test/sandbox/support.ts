import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openSandbox, type RequestEntry, type Sandbox } from '../../src/sandbox/index.ts';
import type { Clock } from '../../src/system/clock.ts';
import { readPlain } from '../../src/system/files.ts';
import { lineToTranscript, masked } from '../support/transcript.ts';

export const RTX_4090 = '40904090-0000-4000-8000-000000000001';
export const A100 = 'a100a100-0000-4000-8000-000000000002';
export const OUT_OF_STOCK = '30903090-0000-4000-8000-000000000005';
export const UBUNTU = '22042204-0000-4000-8000-000000000011';
export const WINDOWS = '20222022-0000-4000-8000-000000000013';
export const JUPYTERLAB = '1ab1ab01-0000-4000-8000-000000000021';
export const RETIRED_TEMPLATE = '01d01d05-0000-4000-8000-000000000025';
export const NOBODY = '00000000-0000-4000-8000-000000000000';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const START = Date.parse('2026-03-01T12:00:00.000Z');

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Row = { [key: string]: Json };

export interface Reply {
  status: number;
  body: Row;
  /** The envelope's `data` as one object. */
  data: Row;
  /** The envelope's `data` as a list. */
  list: Row[];
}

export class ManualClock implements Clock {
  time = START;

  now(): number {
    return this.time;
  }

  monotonic(): number {
    return this.time;
  }

  random(): number {
    return 0.5;
  }

  async sleep(milliseconds: number): Promise<void> {
    this.time += milliseconds;
  }
}

export interface Bench {
  sandbox: Sandbox;
  clock: ManualClock;
  file: string;
  url: string;
  apiKey: string;
  log: RequestEntry[];
  call(method: string, path: string, body?: unknown, apiKey?: string): Promise<Reply>;
  /** Creates an RTX 4090 with Ubuntu and returns its ID; throws if rejected. */
  create(name: string, more?: Row): Promise<string>;
  /** Creates an instance and moves the clock until the instance is ACTIVE. */
  createActive(name: string, more?: Row): Promise<string>;
  instance(id: string): Promise<Row>;
  statusOf(id: string): Promise<Json | undefined>;
  drive(id: string): Promise<Row>;
  /** All events, oldest first. */
  events(id: string): Promise<Row[]>;
  /** All transactions, oldest first, as `TYPE amount`. */
  books(): Promise<string[]>;
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-sandbox-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a new sandbox server with a manual clock. */
export async function bench(options: { balance?: string } = {}): Promise<Bench> {
  const file = join(await temporaryFolder(), 'state', 'sandbox.json');
  const clock = new ManualClock();
  const sandbox = openSandbox({ file, clock });
  if (options.balance !== undefined) {
    await sandbox.reset({ balance: options.balance });
  }
  const log: RequestEntry[] = [];
  const server = await sandbox.listen({ port: 0, onRequest: (entry) => log.push(entry) });
  onTestFinished(async () => {
    await server.close();
    for (const line of stored(file)) lineToTranscript(line);
  });

  async function call(
    method: string,
    path: string,
    body?: unknown,
    apiKey = server.apiKey,
  ): Promise<Reply> {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: {
        'X-API-KEY': apiKey,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = row((await response.json()) as Json);
    lineToTranscript(transcribed(`${method} ${path}`, body, response.status, answer));
    const data = answer.data;
    return {
      status: response.status,
      body: answer,
      get data() {
        return row(data);
      },
      get list() {
        return rows(data);
      },
    };
  }

  async function create(name: string, more: Row = {}): Promise<string> {
    const reply = await call('POST', '/instances', {
      offer_id: RTX_4090,
      image_id: UBUNTU,
      instance_name: name,
      ...more,
    });
    if (reply.status !== 201) {
      throw new Error(`create was refused: ${JSON.stringify(reply.body)}`);
    }
    return String(reply.data.id);
  }

  const instance = async (id: string) => (await call('GET', `/instances/${id}`)).data;

  return {
    sandbox,
    clock,
    file,
    url: server.url,
    apiKey: server.apiKey,
    log,
    call,
    create,
    createActive: async (name, more) => {
      const id = await create(name, more);
      await sandbox.advance(3 * SECOND);
      return id;
    },
    instance,
    statusOf: async (id) => (await instance(id)).status,
    drive: async (id) => (await call('GET', `/storage/drives/${id}`)).data,
    events: async (id) =>
      (await call('GET', `/instances/${id}/events?limit=100`)).list.toReversed(),
    books: async () =>
      (await call('GET', '/billing/transactions?limit=100')).list
        .toReversed()
        .map((entry) => `${entry.type} ${entry.amount}`),
  };
}

/** A longer text only tests its size. */
const MOST = 4000;

const short = (text: string) => (text.length > MOST ? `(${text.length} characters)` : text);

function transcribed(request: string, body: unknown, status: number, answer: Row): string {
  const given = body === undefined ? '' : ` ${JSON.stringify(body)}`;
  const { message, data, meta } = answer;
  const text = masked(
    String(message ?? JSON.stringify(meta === undefined ? data : { data, meta })),
  );
  return `${short(masked(`${request}${given}`))}: ${status} ${short(text)}`;
}

/** Returns the parts of a state file, item by item, without hashes and events. */
function stored(file: string): string[] {
  let state: Row;
  try {
    state = row(JSON.parse(String(readPlain(file))));
  } catch {
    // Some tests damage it.
    return [];
  }
  return Object.entries(state).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => {
      const text = JSON.stringify(one, (key, part) =>
        /^(hash|passwordHash|events)$/.test(key) ? undefined : part,
      );
      return `stored ${name}: ${short(masked(text))}`;
    }),
  );
}

export function row(json: Json | undefined): Row {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new Error(`not an object: ${JSON.stringify(json)}`);
  }
  return json;
}

export function rows(json: Json | undefined): Row[] {
  if (!Array.isArray(json)) {
    throw new Error(`not a list: ${JSON.stringify(json)}`);
  }
  return json.map(row);
}

/** Returns the status changes in an event log as `FROM>TO`. */
export function path(events: Row[]): string[] {
  return events
    .filter((event) => event.type === 'STATUS_CHANGE')
    .map((event) => {
      const payload = row(event.payload);
      return `${payload.from}>${payload.to}`;
    });
}
