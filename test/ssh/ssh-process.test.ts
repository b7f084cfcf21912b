import { expect, test } from 'vitest';
import { startSsh } from '../../src/ssh/ssh-process.ts';

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
