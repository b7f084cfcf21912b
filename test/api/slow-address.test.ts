import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createConnector } from '../../src/api/http/connect.ts';
import { needs } from '../support/needs.ts';

/** Listens with a full queue, so that the first packet of a connection is lost for half a second. */
const SLOW = `
import socket, time
server = socket.socket()
server.bind(('127.0.0.1', 0))
server.listen(0)
others = []
for _ in range(4):
    other = socket.socket()
    other.setblocking(False)
    other.connect_ex(server.getsockname())
    others.append(other)
print(server.getsockname()[1], flush=True)
time.sleep(0.5)
accepted = [server.accept() for _ in range(60)]
`;

test(
  'waits for a slow address if the other one is unusable',
  needs('python3', 'Linux'),
  async () => {
    const server = spawn('python3', ['-c', SLOW]);
    onTestFinished(() => void server.kill());
    const [text] = await once(server.stdout, 'data');
    // An address without a route, as of a network that has no IPv6.
    const addresses = [
      { address: '127.0.0.1', family: 4 },
      { address: '100::1', family: 6 },
    ];
    vi.spyOn(dns, 'lookup').mockImplementation(((
      _host: string,
      _options: object,
      done: (error: null, found: object) => void,
    ) => done(null, addresses)) as never);
    onTestFinished(() => void vi.restoreAllMocks());
    const connector = createConnector({}, undefined, () => undefined);
    const connected = new Promise((resolve) => {
      const target = { hostname: 'service.example', protocol: 'http:', port: String(Number(text)) };
      connector.connect(target, (error, socket) => {
        socket?.destroy();
        resolve(error ?? 'connected');
      });
    });
    expect(await connected).toBe('connected');
  },
);
