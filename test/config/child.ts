/**
 * Tests run this file in separate processes, bundled into their temporary folder.
 *
 *   child add FOLDER WHO COUNT   makes COUNT changes in turn
 *   child fill FOLDER LENGTH     makes one change that adds about LENGTH bytes
 *   child read FOLDER            reads
 *   child shut FOLDER            reads under the lock, and makes FOLDER read-only while holding it
 *
 * Prints one JSON line: `{"profiles": 3}` or the error message.
 */
import { chmod } from 'node:fs/promises';
import { openConfig, withProfile } from '../../src/config/index.ts';
import { CliError } from '../../src/errors.ts';
import { withLock } from '../../src/system/lock.ts';

// conf and the lock install handlers that exit at SIGXFSZ, the signal of a file size limit. Without
// them the write fails as on a full disk.
await import('conf');
process.on('SIGXFSZ', () => undefined);
for (const listener of process.listeners('SIGXFSZ').slice(0, -1)) {
  process.off('SIGXFSZ', listener as NodeJS.SignalsListener);
}

const [, , verb = '', folder = '', first = '', second = ''] = process.argv;

try {
  process.stdout.write(`${JSON.stringify({ profiles: await run() })}\n`);
} catch (error) {
  if (!(error instanceof CliError)) throw error;
  const { failure, message, exitCode } = error;
  process.stdout.write(`${JSON.stringify({ failure, message, exitCode })}\n`);
}

async function run(): Promise<number> {
  const config = openConfig(folder);
  if (verb === 'read') {
    return Object.keys((await config.read()).profiles).length;
  }
  if (verb === 'shut') {
    return await withLock(config.path, async () => {
      await chmod(folder, 0o500);
      return Object.keys((await config.read()).profiles).length;
    });
  }
  let profiles = 0;
  for (let made = 0; made < (verb === 'add' ? Number(second) : 1); made += 1) {
    const file = await config.change((old) =>
      withProfile(old, verb === 'add' ? `${first}-${made}` : 'large', {
        base_url: 'https://api.example.com',
        api_key: 'x'.repeat(verb === 'add' ? 100 : Number(first)),
      }),
    );
    profiles = Object.keys(file.profiles).length;
  }
  return profiles;
}
