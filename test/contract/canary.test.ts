import { afterEach, beforeEach, expect, test } from 'vitest';
import { allText } from '../faults/rig.ts';
import { DRIVE_ID, INSTANCE_ID, SECRETS } from '../openapi/samples.ts';
import { createWorld, TEST_KEY, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { createEcho, type Echo, type Manner } from './echo.ts';

/** The secrets that no output or file may contain. */
const CANARIES = {
  key: TEST_KEY,
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

let world: World;
let echo: Echo;
beforeEach(async () => {
  // Repeats the whole request in each error.
  echo = createEcho(
    (value) => value,
    ({ headers, body }) => `no: ${headers['x-api-key']} ${JSON.stringify(body)}`,
    ({ headers, body }) => ({
      note: `sent with ${headers['x-api-key']}`,
      ...(body === undefined ? {} : { docker_config: Object(body).docker_config }),
    }),
  );
  world = await createWorld({ handler: echo.handler });
});
afterEach(() => world.close());

/** Returns the names of secrets in a text: plain, URL-encoded or in Base64. */
function leaks(text: string): string[] {
  return Object.entries(CANARIES).flatMap(([name, secret]) => {
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')];
    return forms.some((form) => text.includes(form.replace(/=+$/, ''))) ? [name] : [];
  });
}

const MANNERS: readonly Manner[] = ['well', 'error', 'page', 'hang up'];

test.each(MANNERS)(
  'prints no secret in any command with --debug, response type: %s',
  async (manner) => {
    echo.manner = manner;
    for (const { argv, stdin } of COMMANDS) {
      const given = { env: { TOKEN: CANARIES.env }, ...(stdin !== undefined && { stdin }) };
      const { stdout, stderr } = await world.cli([...argv, '--debug', '--no-input'], given);
      expect({ argv, leaks: leaks(stdout + stderr) }).toEqual({ argv, leaks: [] });
      // Empty output would prove nothing.
      expect(stdout + stderr).not.toBe('');
    }
    expect(leaks(await allText(world.home))).toEqual([]);
  },
);
