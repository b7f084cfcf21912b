import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeHeartbeat } from '../../../src/journal/index.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../api/certificate.ts';
import { type CliOptions, TEST_KEY, type World } from '../../support/run-cli.ts';
import type { Handler } from '../../support/service.ts';
import {
  answer,
  bin,
  fakeSsh,
  NOW,
  read,
  serving,
  USER,
  unusual,
  withSsh,
  worldOf,
} from './world.ts';

interface Situation {
  readonly handler?: Handler;
  /** Adds variables, given the home folder. */
  env?(home: string): CliOptions['env'];
  readonly argv?: readonly string[];
  readonly nodeVersion?: string;
  prepare?(world: World): Promise<unknown>;
  /** What differs too, in each situation of its kind. */
  readonly others?: readonly string[];
}

const KEY_HINT =
  'Correct the key in GPUCLOUD_API_KEY, or unset the variable to use the key that "gpucloud login" stores.';
const NETWORK = 'check the network, and the results of base_url, proxy and certificates above';
const NO_ACCOUNT = 'ssh_key warn not checked: the account is unknown';
const SSH_HINT = 'install an OpenSSH client and check that it is on PATH';
const unchecked = (why: string, ...ids: string[]) =>
  ids.map((id) => `${id} warn not checked: ${why}`);
const NO_ADDRESS = unchecked('the base URL is unknown', 'proxy', 'service', 'account');
const ENDS = unchecked('the base URL is unknown', 'deadlines', 'mcp', 'clock');
const NO_SETTINGS = unchecked('the settings are unusable', 'base_url', 'api_key');
const unusable = [...NO_SETTINGS, ...NO_ADDRESS, NO_ACCOUNT, ...ENDS];
const relative = (name: string, ...ids: string[]) =>
  ids.map((id) => `${id} fail ${name}: must be an absolute path, not "here"`);
const responds = (status: number, body: unknown): Situation => ({
  handler: () => answer(status, body),
});
const dated = (date: string): Situation => ({ handler: serving([], date) });
const AHEAD = 'relative times are wrong → set the clock, ideally with NTP';
const authorities = (content: string | Buffer | undefined): Situation => ({
  env: (home) => ({ NODE_EXTRA_CA_CERTS: `${home}/extra ca` }),
  async prepare({ home }) {
    const file = join(home, 'extra ca');
    await (content === undefined ? mkdir(file) : writeFile(file, content));
  },
});
const CLOCK = "clock pass matches the service's clock";
const SOCKS =
  'The proxy in the environment is a SOCKS proxy (socks5://), which is not supported. → Set https_proxy to an http:// or https:// proxy, or name the host in no_proxy.';
const BROKEN_CONFIG = [
  'profile warn not checked: the config file is unusable',
  'config_folder pass $HOME/config, 0700',
  'config_file fail $HOME/config/config.json: it is not valid JSON. The file is unchanged. → correct the file, or move it away and run: gpucloud login',
];
const MUTE_SSH = [`ssh warn ssh is on PATH, but "ssh -V" does not print its version → ${SSH_HINT}`];
const extra = (what: string, hint = 'name a file of PEM certificates, or unset the variable') => [
  `certificates warn NODE_EXTRA_CA_CERTS names $HOME/extra ca, which ${what} → ${hint}`,
];
const config = (content: string) => async (world: World) => {
  await mkdir(join(world.home, 'config'), { mode: 0o700 });
  await writeFile(join(world.home, 'config', 'config.json'), content, { mode: 0o600 });
};
const ssh = (script: string): Situation => ({ prepare: (world) => fakeSsh(world, script) });

const AGAIN =
  "gpucloud instances reap --status; schedule it again: nohup sh -c 'while :; do gpucloud instances reap --every 5m; sleep 300; done' >/dev/null 2>&1 &";
/** A heartbeat, in a folder that others may not read. */
const scheduled = (features: readonly string[], at = NOW): Situation => ({
  async prepare({ home, service }) {
    const heartbeat = { service: service.url, account: 'u1', every: 300_000, at, features };
    await writeHeartbeat(join(home, 'state'), '@environment', heartbeat);
  },
  others: ['state_folder pass $HOME/state, 0700', 'state_writable pass $HOME/state is writable'],
});

/** The world of a service that takes time. */
let slow: World;
const SITUATIONS: readonly [what: string, Situation, differing: readonly string[]][] = [
  ['nothing unusual', {}, []],
  [
    'a refused key',
    responds(401, { statusCode: 401, message: 'no', error: 'Unauthorized' }),
    [`account fail The service did not accept the API key (401): no. → ${KEY_HINT}`, NO_ACCOUNT],
  ],
  [
    'a forbidden request',
    responds(403, ''),
    [
      `account fail The service does not permit this request with the API key (403): no explanation given. → ${KEY_HINT}`,
      NO_ACCOUNT,
    ],
  ],
  [
    'another service',
    responds(404, { statusCode: 404, message: 'no', error: 'Not Found' }),
    ['account fail Not found (404): no. → check the base URL: it has no GET /users/me', NO_ACCOUNT],
  ],
  [
    'a limit of requests',
    responds(429, ''),
    [
      'account warn The service limits requests (429). → Wait a moment, then run the command again.',
      NO_ACCOUNT,
      CLOCK,
    ],
  ],
  [
    'a page of a hotel',
    responds(200, '<html>sign in to the hotel</html>'),
    [
      'account fail Could not read the response to GET /users/me: it is an HTML page, perhaps from a proxy. → The service sends JSON, not web pages. Run gpucloud doctor to check the network, base URL and proxy settings.',
      NO_ACCOUNT,
    ],
  ],
  [
    'a blocked account',
    { handler: serving([], NOW, { ...USER, is_active: false }) },
    ["account fail the account ann@example.com is blocked → contact the service's support"],
  ],
  [
    'an account without an email address',
    { handler: serving([], NOW, { ...USER, email: null }) },
    ['account pass the key belongs to Ann'],
  ],
  [
    'a server error',
    responds(500, 'broken'),
    [
      `service fail The service failed to show the profile (500): broken. → ${NETWORK}`,
      'account warn not checked: the service did not respond',
      NO_ACCOUNT,
      CLOCK,
    ],
  ],
  [
    'no server',
    { env: () => ({ GPUCLOUD_BASE_URL: 'http://127.0.0.1:9' }) },
    [
      'base_url pass http://127.0.0.1:9, from GPUCLOUD_BASE_URL',
      'proxy pass none for 127.0.0.1:9',
      `service fail Could not reach the service: connection refused. No changes made. → ${NETWORK}`,
      'account warn not checked: the service did not respond',
      NO_ACCOUNT,
      "clock warn not checked: the service's responses have no date",
    ],
  ],
  [
    'no key',
    { ...responds(401, ''), env: () => ({ GPUCLOUD_API_KEY: undefined }) },
    [
      'api_key fail missing: you are not signed in → sign in with "gpucloud login", set GPUCLOUD_API_KEY, or try "gpucloud --profile sandbox doctor"',
      'account warn not checked: no key',
      NO_ACCOUNT,
    ],
  ],
  [
    'no address',
    { env: () => ({ GPUCLOUD_BASE_URL: undefined }) },
    [
      'base_url fail missing: no base URL is set → sign in with "gpucloud login --base-url URL", or set GPUCLOUD_BASE_URL',
      ...NO_ADDRESS,
      NO_ACCOUNT,
      'clock warn not checked: the base URL is unknown',
    ],
  ],
  [
    'an unreadable date',
    dated('soon'),
    ["clock warn not checked: the service's responses have no date"],
  ],
  [
    'a clock exactly a minute behind a slow service',
    {
      async prepare(world) {
        slow = world;
      },
      handler(request) {
        if (request.path === '/users/me') slow.clock.advance(1000);
        return serving([], '2026-01-15T12:01:00.000Z')(request);
      },
    },
    ['service pass $URL responded in 1000 ms', "clock pass 60 s behind the service's clock"],
  ],
  [
    'a clock a minute behind',
    dated('2026-01-15T12:00:59.000Z'),
    ["clock pass 60 s behind the service's clock"],
  ],
  [
    'a clock a second more behind',
    dated('2026-01-15T12:01:00.000Z'),
    [`clock warn this computer's clock is 61 s behind the service's clock: ${AHEAD}`],
  ],
  [
    'a clock an hour ahead',
    dated('2026-01-15T11:00:00.000Z'),
    [`clock warn this computer's clock is 3600 s ahead of the service's clock: ${AHEAD}`],
  ],
  [
    'a SOCKS proxy',
    {
      env: () => ({
        GPUCLOUD_BASE_URL: 'https://api.example.invalid',
        https_proxy: 'socks5://ann:hunter2@px',
      }),
    },
    [
      'base_url pass https://api.example.invalid, from GPUCLOUD_BASE_URL',
      `proxy fail ${SOCKS}`,
      `service fail ${SOCKS}`,
      'account warn not checked: the service did not respond',
      NO_ACCOUNT,
      "clock warn not checked: the service's responses have no date",
    ],
  ],
  [
    'a key whose public half the service hides',
    { handler: serving([{ id: 'k1' }]) },
    ['ssh_key pass can sign in with k1'],
  ],
  [
    'a key in the SSH agent',
    {
      handler: serving([{ id: 'k1', name: 'laptop', public_key: 'ssh-ed25519 AAAA' }]),
      prepare: (world) =>
        writeFile(join(bin(world), 'ssh-add'), '#!/bin/sh\necho ssh-ed25519 AAAA me\n', {
          mode: 0o755,
        }),
    },
    ['ssh_key pass can sign in with laptop (in the SSH agent)'],
  ],
  [
    'unverified certificates',
    { env: () => ({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }) },
    [
      'certificates warn NODE_TLS_REJECT_UNAUTHORIZED=0 turns off certificate checks, so gpucloud refuses to use HTTPS → unset the variable; to trust more certificates, set NODE_EXTRA_CA_CERTS to a file that contains them',
    ],
  ],
  [
    'a missing file of certificates',
    { env: (home) => ({ NODE_EXTRA_CA_CERTS: `${home}/extra ca` }) },
    extra("can't be read (ENOENT)"),
  ],
  [
    'certificates in DER',
    authorities(Buffer.from([0x30, 0x82, 0x05, 0x17, 0x30, 0x82])),
    extra(
      'is in DER format, not PEM',
      "convert it: openssl x509 -inform der -in '$HOME/extra ca' -out '$HOME/extra ca.pem'",
    ),
  ],
  ['a text', authorities('0 certificates\n'), extra('contains no PEM certificate')],
  ['a cut certificate', authorities(CERTIFICATE.slice(0, 200)), extra('has a damaged certificate')],
  ['a key', authorities('-----BEGIN PRIVATE KEY-----\n'), extra('contains no PEM certificate')],
  ['an empty file of certificates', authorities(''), extra('is empty')],
  ['a folder of certificates', authorities(undefined), extra("can't be read (EISDIR)")],
  [
    'good certificates',
    authorities(`# our proxy\n${CERTIFICATE_KEY}\n${CERTIFICATE}`),
    ["certificates pass trusts Node.js's bundled CA certificates and $HOME/extra ca"],
  ],
  [
    'an unknown profile',
    { argv: ['--profile', 'nope'] },
    [
      'profile fail --profile: no profile "nope"; profiles: sandbox → add one: gpucloud login --profile NAME',
      ...unusable,
    ],
  ],
  [
    'an invalid key',
    { env: () => ({ GPUCLOUD_API_KEY: 'a b' }) },
    ['profile fail GPUCLOUD_API_KEY: must be one line of visible ASCII characters', ...unusable],
  ],
  [
    'a relative state folder',
    { env: () => ({ GPUCLOUD_STATE_DIR: 'here' }) },
    relative('GPUCLOUD_STATE_DIR', 'state_folder', 'state_writable', 'deadlines', 'mcp'),
  ],
  [
    'a relative config folder',
    { env: () => ({ GPUCLOUD_CONFIG_DIR: 'here' }) },
    relative('GPUCLOUD_CONFIG_DIR', 'profile', 'config_folder', 'config_file', 'deadlines', 'mcp'),
  ],
  [
    // A file in place of the folder stops even root.
    'a state folder that is a file',
    { prepare: ({ home }) => writeFile(join(home, 'state'), '') },
    [
      'state_folder fail $HOME/state is not a folder → move the file',
      'state_writable fail could not write to $HOME/state (ENOTDIR) → make it writable, or set GPUCLOUD_STATE_DIR to another folder',
    ],
  ],
  [
    'a state folder below a file',
    {
      env: (home) => ({ GPUCLOUD_STATE_DIR: join(home, 'file', 'state') }),
      prepare: ({ home }) => writeFile(join(home, 'file'), ''),
    },
    ['state_folder', 'state_writable'].map(
      (check) => `${check} fail could not read $HOME/file/state (ENOTDIR)`,
    ),
  ],
  ...(process.getuid?.() === 0 ? [1, 3] : []).map((count): (typeof SITUATIONS)[number] => [
    `files of another user: ${count}`,
    {
      async prepare({ home }) {
        const folder = join(home, 'state');
        await mkdir(folder, { mode: 0o700 });
        for (const name of ['a', 'b', 'c', '.doctor'].slice(-count - 1)) {
          await writeFile(join(folder, name), '');
          await chown(join(folder, name), 1234, 1234);
        }
        await writeFile(join(folder, 'own'), '');
      },
    },
    [
      count === 1
        ? 'state_folder fail $HOME/state/c belongs to another user, so gpucloud may miss instances → sudo chown -R 0 $HOME/state'
        : 'state_folder fail $HOME/state/a and 2 more belong to another user, so gpucloud may miss instances → sudo chown -R 0 $HOME/state',
      'state_writable pass $HOME/state is writable',
    ],
  ]),
  [
    // With a key and an address from the environment, commands don't need the file.
    'an invalid config file',
    { prepare: config(`{"api_key":"${TEST_KEY}`) },
    BROKEN_CONFIG,
  ],
  [
    'an invalid config file without an address',
    { prepare: config(`{"api_key":"${TEST_KEY}`), env: () => ({ GPUCLOUD_BASE_URL: '' }) },
    [...BROKEN_CONFIG, ...NO_SETTINGS, ...NO_ADDRESS, NO_ACCOUNT, ...ENDS],
  ],
  [
    'private files',
    {
      async prepare(world) {
        await config('{"profiles":{}}')(world);
        await mkdir(join(world.home, 'state'), { mode: 0o700 });
      },
    },
    [
      'config_folder pass $HOME/config, 0700',
      'config_file pass $HOME/config/config.json with 0 profiles, 0600',
      'state_folder pass $HOME/state, 0700',
      'state_writable pass $HOME/state is writable',
    ],
  ],
  [
    'a key without the usual prefix',
    { env: () => ({ GPUCLOUD_API_KEY: 'token-0123456789' }) },
    [
      'api_key warn the key from GPUCLOUD_API_KEY does not start with svc_sk_, the documented prefix → check that you copied the complete key and nothing else',
    ],
  ],
  ...[
    ['my_svc_sk_test_0', undefined],
    ['svc_sk_abcdefghijkl_0', 'svc_sk_abcdefghijkl_'],
    ['svc_sk_abcdefghijklm_0', 'svc_sk_'],
    ['svc_sk_test_', 'svc_sk_'],
    ['svc_sk_test1_0', 'svc_sk_'],
    ['svc_sk__0', 'svc_sk_'],
  ].map(([key = '', prefix]): (typeof SITUATIONS)[number] => [
    `the key ${key}`,
    { env: () => ({ GPUCLOUD_API_KEY: key }) },
    [
      prefix === undefined
        ? 'api_key warn the key from GPUCLOUD_API_KEY does not start with svc_sk_, the documented prefix → check that you copied the complete key and nothing else'
        : `api_key pass ${prefix}…, from GPUCLOUD_API_KEY`,
    ],
  ]),
  ['the oldest Node.js', { nodeVersion: 'v20.18.1' }, ['node pass Node.js v20.18.1']],
  ['a new Node.js', { nodeVersion: 'v26.0.0' }, ['node pass Node.js v26.0.0']],
  ...['v20.18.0', 'v18.20.8'].map((nodeVersion): (typeof SITUATIONS)[number] => [
    nodeVersion,
    { nodeVersion },
    [
      `node fail Node.js ${nodeVersion} is older than 20.18.1, the oldest supported version → install a newer Node.js: https://nodejs.org`,
    ],
  ]),
  [
    'no ssh',
    { env: (home) => ({ PATH: `${home}/nowhere` }) },
    [`ssh warn ssh is not on PATH: you can rent instances, but not connect to them → ${SSH_HINT}`],
  ],
  [
    "an ssh that can't be run",
    { prepare: (world) => chmod(join(bin(world), 'ssh'), 0o644) },
    [`ssh warn could not start ssh (EACCES) → ${SSH_HINT}`],
  ],
  ['a failing ssh', ssh('echo 9.2; exit 3'), MUTE_SSH],
  ['an ssh that prints nothing', ssh('exit 0'), MUTE_SSH],
  [
    'a schedule',
    scheduled(['deadline', 'idle', 'job', 'rescue']),
    [
      'deadlines pass "instances reap" enforces: deadline, idle, job, rescue',
      'mcp pass agents can rent within a budget: "gpucloud mcp --help"',
    ],
  ],
  [
    'a schedule of an older gpucloud',
    scheduled(['deadline']),
    [
      `deadlines warn the schedule runs an older gpucloud, which does not enforce idle rules → ${AGAIN}`,
      'mcp pass agents can rent within a budget: "gpucloud mcp --help"',
    ],
  ],
  [
    'a schedule that stopped',
    scheduled(['deadline'], '2026-01-15T11:00:00.000Z'),
    [`deadlines warn "instances reap" last ran 1 h ago → ${AGAIN}`],
  ],
];

test.each(SITUATIONS)('doctor reports %s', async (_what, situation, differing) => {
  const { handler, env, argv = [], nodeVersion, prepare, others = [] } = situation;
  const world = await worldOf(handler);
  await prepare?.(world);
  const given = { ...withSsh(world, env?.(world.home)), ...(nodeVersion && { nodeVersion }) };
  const { report, stderr } = await read(world, argv, given);
  expect(unusual(report, world).sort()).toEqual([...differing, ...others].sort());
  expect(stderr + JSON.stringify(report)).not.toContain('hunter2');
});
