import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createJobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';

test('run gives up after --wait-timeout if the server hangs after its banner', {
  ...needs('ssh'),
}, async () => {
  const world = await createJobWorld();
  const sockets: Socket[] = [];
  const hanging: Server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    socket.write('SSH-2.0-OpenSSH_9.6\r\n');
  });
  await once(hanging.listen(0, '127.0.0.1'), 'listening');
  const address = hanging.address();
  const ssh_port = typeof address === 'object' ? address?.port : undefined;
  const rent = world.renting.rent;
  world.renting.rent = (id, name, more) => rent(id, name, { ...more, ssh_port } as object);
  try {
    const { code, stderr } = await world.run(['--wait-timeout', '6s'], ['true']);
    expect(code, stderr).toBe(125);
    expect(stderr).toContain('Could not sign in with SSH within 6s: ');
    expect(world.status()).toBe('TERMINATING');
  } finally {
    for (const socket of sockets) socket.destroy();
    hanging.close();
  }
});
