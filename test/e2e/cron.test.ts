import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createComputer, heard } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { CRON, login, withCron } from './own-cron.ts';

/** Rents an instance that only cron can terminate. */
const RENT_AND_WAIT = `
gpucloud instances reap --install --every 1m --json
gpucloud instances create trainer ${HARDWARE.join(' ')} --terminate-after 30m --json
gpucloud sandbox advance 40m --state "$STATE_FILE" --json
for second in $(seq 150); do
  status=$(gpucloud instances list --all --json --query '[0].status')
  case $status in *TERMINAT*) break ;; esac
  sleep 1
done
echo "{\\"ended\\": $status}"
gpucloud instances reap --uninstall --json
echo "{\\"left\\": $(crontab -l | wc -l)}"
`;

test('terminates an instance at its deadline through cron', CRON, async () => {
  const computer = await createComputer();
  const file = join(computer.home, 'service.json');
  const service = computer.start(['sandbox', 'serve', '--port', '0', '--state', file, '--json']);
  try {
    const line = await heard(service, 'stdout', /\n/);
    const { url, api_key } = JSON.parse(line) as { url: string; api_key: string };
    await login(computer, url, api_key);
    const { code, stdout, stderr } = await withCron(computer, RENT_AND_WAIT, { STATE_FILE: file });
    expect(code, stderr).toBe(0);
    const printed = stdout
      .trim()
      .split(/\n(?=\{)/)
      .map((text) => JSON.parse(text));
    expect(printed).toMatchObject([
      { armed: true, scheduler: 'crontab', every_seconds: 60 },
      { name: 'trainer' },
      {},
      { ended: expect.stringMatching(/^TERMINAT/) },
      { armed: false, scheduler: null },
      { left: 0 },
    ]);
  } finally {
    service.kill();
    await once(service, 'exit');
  }
});
