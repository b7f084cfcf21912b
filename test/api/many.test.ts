import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { eachBounded } from '../../src/concurrency.ts';
import { CliError } from '../../src/errors.ts';
import { envelope } from '../support/service.ts';
import { apiFor, closedPort, ID, instance, rawServer } from './harness.ts';

const INTERRUPT = new CliError('interrupted', 'Interrupted.');
const BODY = JSON.stringify(envelope(instance('ACTIVE')));
const ANSWER = `HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const MOST = 104;

const many = (count: number) => Array.from({ length: count }, (_, at) => at);

test('opens no more connections than requests in flight', async () => {
  const server = await rawServer((socket) => void socket.write(ANSWER));
  const api = apiFor(server.url, { signal: new AbortController().signal });
  const read = await eachBounded(many(400), 100, () => api.instances.get(ID));
  expect(read).toEqual(many(400).map(() => instance('ACTIVE')));
  expect(server.connections()).toBeLessThanOrEqual(MOST);
});

test('sends queued requests, and removes their abort listeners', async () => {
  const server = await rawServer((socket) => void socket.write(ANSWER));
  const { signal } = new AbortController();
  const api = apiFor(server.url, { signal });
  const read = await Promise.all(many(3 * MOST).map(() => api.instances.get(ID)));
  expect(read).toHaveLength(3 * MOST);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(server.connections()).toBeLessThanOrEqual(MOST);
});

test('never sends a request aborted in the queue', async () => {
  const stop = new AbortController();
  let asked = 0;
  const server = await rawServer(() => {
    asked += 1;
    if (asked === MOST) stop.abort(INTERRUPT);
  });
  const api = apiFor(server.url, { signal: stop.signal });
  const ends = await Promise.allSettled(many(2 * MOST).map(() => api.instances.get(ID)));
  for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: INTERRUPT });
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toBe(MOST);
});

test('fails each request if no server listens', async () => {
  const api = apiFor(await closedPort(), { signal: new AbortController().signal });
  const ends = await Promise.allSettled(many(2 * MOST).map(() => api.instances.get(ID)));
  for (const end of ends) expect(end).toMatchObject({ status: 'rejected' });
});
