import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DRIVE_ID, INSTANCE_ID, SECRETS } from '../openapi/samples.ts';
import { outcomeOf } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { type Bundle, builtBundle } from './bundle.ts';
import { type EchoService, type Manner, startEcho } from './echo.ts';
import { FAULTS } from './proxy.ts';
import { allText, argvFor, KEY, openRig, type Rig } from './rig.ts';
import { SOAK } from './tools.ts';

/** The secrets that no output or file may contain. */
const CANARIES = {
  key: KEY,
  env: 'canary-env-4f2d9c81',
  current: 'Canary-old-77x31',
  next: 'Canary-new-88y42',
  token: SECRETS.token,
  metadata: SECRETS.metadata,
  inside: SECRETS.env,
};

interface Told {
  readonly argv: readonly string[];
  readonly stdin?: string;
}

const COMMANDS: readonly Told[] = [
  { argv: ['instances', 'create', 'trainer', ...HARDWARE, '--docker-image', 'a', '-e', 'TOKEN'] },
  {
    argv: [
      ...['instances', 'create', 'second', ...HARDWARE, '--docker-image', 'a', '-e', 'TOKEN'],
      '--dry-run',
    ],
  },
  {
    argv: [
      ...['instances', 'create', 'third', ...HARDWARE, '--docker-image', 'a', '-e', 'TOKEN'],
      '--json',
    ],
  },
  { argv: ['instances', 'reorder', INSTANCE_ID, 'again'] },
  { argv: ['instances', 'list', '--all', '-o', 'yaml'] },
  { argv: ['instances', 'list', '--json'] },
  { argv: ['instances', 'get', INSTANCE_ID] },
  { argv: ['instances', 'get', INSTANCE_ID, '--json'] },
  { argv: ['instances', 'endpoints', INSTANCE_ID] },
  { argv: ['instances', 'events', INSTANCE_ID] },
  { argv: ['instances', 'stop', INSTANCE_ID] },
  { argv: ['instances', 'start', INSTANCE_ID] },
  { argv: ['instances', 'terminate', INSTANCE_ID, '-y'] },
  { argv: ['instances', 'track', INSTANCE_ID] },
  { argv: ['instances', 'recover'] },
  { argv: ['instances', 'export'] },
  { argv: ['drives', 'list'] },
  { argv: ['drives', 'get', DRIVE_ID] },
  { argv: ['drives', 'create', 'data', '--size', '100'] },
  { argv: ['ssh-keys', 'list'] },
  { argv: ['api-keys', 'list'] },
  { argv: ['templates', 'list'] },
  { argv: ['me', 'get'] },
  { argv: ['me', 'set-password', '--stdin'], stdin: `${CANARIES.current}\n${CANARIES.next}\n` },
  { argv: ['billing', 'balance'] },
  { argv: ['billing', 'transactions'] },
  { argv: ['billing', 'promo', 'CODE'] },
  { argv: ['catalog', 'list'] },
  { argv: ['profiles', 'list'] },
  { argv: ['doctor'] },
  { argv: ['doctor', '--json'] },
  { argv: ['api', 'GET', '/users/me'] },
  { argv: ['api', 'GET', `/instances/${INSTANCE_ID}`] },
];

let bundle: Bundle;
beforeAll(async () => {
  bundle = await builtBundle();
});
afterAll(() => bundle.remove());

let rig: Rig;
let service: EchoService;
beforeEach(async () => {
  rig = await openRig(bundle.path, { echo: (body) => ({ metadata: { sent: body, key: KEY } }) });
  // Repeats the whole request in each error.
  service = await startEcho(
    (value) => value,
    ({ headers, body }) => `no: ${headers['x-api-key']} ${JSON.stringify(body)}`,
    ({ body }) => (body === undefined ? {} : { docker_config: Object(body).docker_config }),
  );
});
afterEach(async () => {
  await service.close();
  await rig.close();
});

/** Returns the names of secrets in a text: plain, URL-encoded or in Base64. */
function leaks(text: string): string[] {
  return Object.entries(CANARIES).flatMap(([name, secret]) => {
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')];
    return forms.some((form) => text.includes(form.replace(/=+$/, ''))) ? [name] : [];
  });
}

async function run({ argv, stdin }: Told, url: string): Promise<string> {
  const env = { GPUCLOUD_BASE_URL: url, TOKEN: CANARIES.env };
  const child = rig.start([...argv, '--debug', '--timeout', '20s', '--no-input'], { env });
  const { stdout, stderr } = await outcomeOf(child, stdin);
  return `${stdout}\n${stderr}`;
}

describe('gpucloud --debug', () => {
  const MANNERS: readonly Manner[] = ['well', 'error', 'page', 'hang up'];

  test.each(MANNERS)(
    'prints no secret in any command with --debug, response type: %s',
    async (manner) => {
      service.manner = manner;
      // Runs a sample, since each read without a response is sent three times.
      const step = SOAK ? 1 : manner === 'well' ? 2 : manner === 'error' ? 4 : 11;
      const chosen = COMMANDS.filter((_command, at) => at % step === 0);
      for (const command of chosen) {
        const text = await run(command, service.url);
        expect({ argv: command.argv, leaks: leaks(text) }).toEqual({
          argv: command.argv,
          leaks: [],
        });
        // Empty output would prove nothing.
        expect(text.trim()).not.toBe('');
      }
      expect(leaks(await allText(rig.home))).toEqual([]);
    },
    240_000,
  );

  test('prints no secret in a create with any network fault', async () => {
    const faults = FAULTS.filter(({ slow }, at) => SOAK || (slow === undefined && at % 6 === 0));
    for (const [at, fault] of faults.entries()) {
      await rig.proxy.arm(fault);
      const argv = argvFor('create', `box${at}`, '3s');
      const text = await run(
        { argv: [...argv, '--docker-image', 'a', '-e', 'TOKEN'] },
        rig.proxy.url,
      );
      expect({ fault: fault.name, leaks: leaks(text) }).toEqual({ fault: fault.name, leaks: [] });
    }
    expect(leaks(await allText(rig.home))).toEqual([]);
  }, 240_000);

  test('neither prints the stored API key nor writes it to the state folder', async () => {
    const file = join(rig.home, 'key.txt');
    await writeFile(file, `${KEY}\n`, { mode: 0o600 });
    const signIn = ['login', '--base-url', service.url, '--key-file', file];
    const env = { GPUCLOUD_API_KEY: '', GPUCLOUD_BASE_URL: '' };
    for (const argv of [signIn, ['me', 'get'], ['profiles', 'get'], ['doctor'], ['logout']]) {
      for (const manner of ['error', 'well'] as const) {
        service.manner = manner;
        const { stdout, stderr } = await rig.gpucloud([...argv, '--debug'], { env });
        expect({ argv, leaks: leaks(stdout + stderr) }).toEqual({ argv, leaks: [] });
      }
    }
    expect(leaks(await allText(rig.state))).toEqual([]);
  }, 180_000);
});
