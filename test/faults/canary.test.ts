import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEcho } from '../contract/echo.ts';
import { PROGRAM } from '../support/program.ts';
import { startService } from '../support/service.ts';
import { FAULTS } from './proxy.ts';
import { allText, argvFor, KEY, openRig, type Rig } from './rig.ts';
import { SOAK } from './tools.ts';

/** The secrets that no output or file may contain. */
const CANARIES = { key: KEY, env: 'canary-env-4f2d9c81' };

let rig: Rig;
beforeEach(async () => {
  rig = await openRig(PROGRAM, { echo: (body) => ({ metadata: { sent: body, key: KEY } }) });
});
afterEach(() => rig.close());

/** Returns the names of secrets in a text: plain, URL-encoded or in Base64. */
function leaks(text: string): string[] {
  return Object.entries(CANARIES).flatMap(([name, secret]) => {
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')];
    return forms.some((form) => text.includes(form.replace(/=+$/, ''))) ? [name] : [];
  });
}

/** contract/canary.test.ts runs each command, without the built program. */
describe('gpucloud --debug', () => {
  test('prints no secret in a create with any network fault', async () => {
    const faults = FAULTS.filter(({ slow }, at) => SOAK || (slow === undefined && at % 6 === 0));
    for (const [at, fault] of faults.entries()) {
      await rig.proxy.arm(fault);
      const argv = [...argvFor('create', `box${at}`, '3s'), '--docker-image', 'a', '-e', 'TOKEN'];
      const env = { TOKEN: CANARIES.env };
      const { stdout, stderr } = await rig.gpucloud([...argv, '--debug'], { env });
      expect(stderr).not.toBe('');
      expect({ fault: fault.name, leaks: leaks(stdout + stderr) }).toEqual({
        fault: fault.name,
        leaks: [],
      });
    }
    expect(leaks(await allText(rig.home))).toEqual([]);
  }, 240_000);

  test('neither prints the stored API key nor writes it to the state folder', async () => {
    const echo = createEcho(
      (value) => value,
      ({ headers }) => `no: ${headers['x-api-key']}`,
    );
    const service = await startService(echo.handler);
    const file = join(rig.home, 'key.txt');
    await writeFile(file, `${KEY}\n`, { mode: 0o600 });
    const signIn = ['login', '--base-url', service.url, '--key-file', file];
    const env = { GPUCLOUD_API_KEY: '', GPUCLOUD_BASE_URL: '' };
    for (const argv of [signIn, ['me', 'get'], ['profiles', 'get'], ['doctor'], ['logout']]) {
      for (const manner of ['error', 'well'] as const) {
        echo.manner = manner;
        const { stdout, stderr } = await rig.gpucloud([...argv, '--debug'], { env });
        expect({ argv, leaks: leaks(stdout + stderr) }).toEqual({ argv, leaks: [] });
      }
    }
    expect(leaks(await allText(rig.state))).toEqual([]);
  }, 180_000);
});
