import { expect, test } from 'vitest';
import { notStarted, startSsh, troubleIn } from '../../src/ssh/ssh-process.ts';

test('ssh is heard line by line, however its output arrives', async () => {
  const heard: string[] = [];
  const parts = [
    'Wel',
    'come\r',
    '\ndebug1: Entering inter',
    'active session.\nBye',
    '\n\nla',
    'st',
  ];
  const ssh = await startSsh(
    ['ssh', 'box'],
    async ({ hear }) => {
      for (const part of parts) hear?.(part, 'stderr');
      return { ended: Promise.resolve(255), isLate: false, kill: () => undefined };
    },
    {
      open: () => heard.push('(open)'),
      say: (line) => heard.push(line),
      log: (line) => heard.push(`(log) ${line}`),
    },
  );
  expect(await ssh.ended).toEqual({ code: 255, output: 'Welcome\nBye\nlast\n' });
  expect(heard).toEqual([
    ...['Welcome', '(open)', '(log) debug1: Entering interactive session.', 'Bye', 'last'],
  ]);
});

test("keeps the end of ssh's output", async () => {
  const ssh = await startSsh(
    ['ssh', '-N', 'box'],
    async ({ file, args, hear }) => {
      expect([file, ...args]).toEqual(['ssh', '-v', '-N', 'box']);
      hear?.(`first\n${'x'.repeat(3993)}\nlast\n`, 'stderr');
      return { ended: Promise.resolve(1), isLate: false, kill: () => undefined };
    },
    {},
  );
  expect(await ssh.ended).toEqual({ code: 1, output: `\n${'x'.repeat(3993)}\nlast\n` });
});

test.each([
  ...['debug1: x', 'debug3: x', 'OpenSSH_9.6', 'Authenticated to box', 'Transferred: 1'],
  'Bytes per second: 1',
])('counts %j as a line of the log', async (line) => {
  const ssh = await startSsh(
    ['ssh'],
    async ({ hear }) => {
      hear?.(`${line}\n x ${line}\n`, 'stderr');
      return { ended: Promise.resolve(0), isLate: false, kill: () => undefined };
    },
    {},
  );
  expect((await ssh.ended).output).toBe(` x ${line}\n`);
});

test.each([
  [
    'ENOENT',
    'ssh is not on PATH: gpucloud connects with OpenSSH.',
    'install an OpenSSH client (openssh-client on Debian and Ubuntu, an optional feature on Windows); check it: gpucloud\ufdd0 doctor',
  ],
  ['EACCES', 'Could not start ssh (EACCES).', undefined],
])('says why ssh does not start: %s', (code, message, hint) => {
  const cause = Object.assign(new Error('spawn'), { code });
  const fault = notStarted('ssh', cause);
  expect([fault.failure, fault.message, fault.hint]).toEqual(['refused', message, hint]);
  expect(fault.cause).toBe(cause);
});

test.each([
  ['hostKey', 'x\nHost key verification failed.\nPermission denied (publickey).'],
  ['hostKey', '@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @'],
  ['keys', 'root@a: Permission denied (publickey).\nConnection closed by 192.0.2.1'],
  ['keys', 'Received disconnect: Too many authentication failures'],
  ['unreachable', 'ssh: connect to host a port 22: Connection refused'],
  ['unreachable', 'ssh: connect to host a port 22: Connection timed out'],
  ['unreachable', 'ssh: connect to host a port 22: No route to host'],
  ['unreachable', 'connect to host a port 22: Network is unreachable'],
  ['unreachable', 'ssh: Could not resolve hostname a: Name or service not known'],
  ['unreachable', 'kex_exchange_identification: read: Connection reset by peer'],
  ['unreachable', 'Connection closed by 192.0.2.1 port 22'],
  [undefined, 'my Host key verification failed'],
  [undefined, 'Permission denied'],
  [undefined, ''],
])('finds the trouble %s in %j', (trouble, output) => {
  expect(troubleIn(output)).toBe(trouble);
});
