import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { shellLine } from '../../src/output/shell-line.ts';
import { hostBlock, hostEntries } from '../../src/ssh/hosts/ssh-config.ts';
import {
  batchSsh,
  configWord,
  probeArgv,
  scpArgv,
  sshArgv,
  tunnelArgv,
} from '../../src/ssh/ssh-argv.ts';
import { knownSshEndpoint, sshCommand, sshEndpoint } from '../../src/watch/ssh-endpoint.ts';
import { needs, programAt } from '../support/needs.ts';
import { anyText, fc, runs } from '../support/random.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const SSH = { knownHosts: '/state/ssh/known_hosts', options: [], words: [] };

/** Words that a hostile or broken service could send. */
const HOSTILE = [
  ...['-oProxyCommand=touch${IFS}/tmp/x', '-oProxyCommand=id', '-l', '--'],
  ...['127.0.0.1 -oProxyCommand=id', '127.0.0.1\n  ProxyCommand id', '127.0.0.1\r\nHost *'],
  ...['127.0.0.1\u2028Host *', '127.0.0.1\0x', '$(id)', '`id`', ';id', '%h', '%%'],
  ...['root@evil.example', 'evil.example:22', '[::1]', 'fe80::1%eth0', '1', '2130706433', '0x7f.1'],
  ...['127.1', '010.0.0.1', 'ro ot', "ro'ot", 'ro"ot', 'root#', '*', '!x', '?', '~/.ssh', '', ' '],
  'a'.repeat(300),
  '\u202eroot',
];

const GOOD = [
  ...['203.0.113.7', '2001:db8::5', '0:0:0:0:0:0:0:1', 'gpu-1.example.com', 'Trainer.Example.COM'],
  ...['root', 'ubuntu', 'my_user-1'],
];

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HOSTILE) },
  { weight: 1, arbitrary: anyText({ maxLength: 20 }) },
  // Generates mostly valid characters, to probe the edges of the rules.
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom(...'ab1.-_:@%$ \n\t"\'=/\\'), { maxLength: 12 })
      .map((letters) => letters.join('')),
  },
);
/** Generates valid texts, invalid texts and mixtures of both. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...GOOD) },
  { weight: 3, arbitrary: piece },
  { weight: 1, arbitrary: fc.tuple(piece, piece).map((two) => two.join('')) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...GOOD), piece).map((two) => two.join('')) },
  { weight: 1, arbitrary: fc.constantFrom(null, undefined) },
);
const port = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 65_535 }) },
  fc.constantFrom(0, -1, 22.5, 65_536, 1e21, null, undefined),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const instance = fc.record({
  id: fc.constant(ID),
  ip_address: text,
  ssh_username: text,
  ssh_port: port,
});

const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)$/;
const USER = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** The options of every ssh command, before the port. */
const OURS = [
  ...['-o', `HostKeyAlias=${ID}`, '-o', 'UserKnownHostsFile=/state/ssh/known_hosts'],
  ...['-o', 'StrictHostKeyChecking=accept-new', '-o', 'CheckHostIP=no'],
];

describe('an SSH endpoint from the service', () => {
  test("passes no option or argument from the service's endpoint to ssh, scp or a tunnel", () => {
    let entered = 0;
    fc.assert(
      fc.property(instance, (sent) => {
        const endpoint = knownSshEndpoint(sent);
        if (endpoint === undefined) return;
        entered += 1;
        expect(endpoint.host).toMatch(HOST);
        expect(endpoint.user).toMatch(USER);
        expect(endpoint.port).toBe(sent.ssh_port);
        const destination = `${endpoint.user}@${endpoint.host}`;
        expect(sshArgv(endpoint, SSH, { command: ['-x'] })).toEqual([
          ...['ssh', ...OURS, '-p', String(endpoint.port), '--', destination, '-x'],
        ]);
        const place = endpoint.host.includes(':')
          ? `${endpoint.user}@[${endpoint.host}]`
          : destination;
        expect(scpArgv(endpoint, SSH, { sources: ['-a'], target: 'b', from: 'here' })).toEqual([
          ...['scp', ...OURS, '-P', String(endpoint.port), '--', './-a', `${place}:b`],
        ]);
        expect(tunnelArgv(endpoint, SSH, { local: 1, remote: 2 }).slice(-6)).toEqual([
          ...['-L', '127.0.0.1:1:localhost:2', '-p', String(endpoint.port), '--', destination],
        ]);
        expect(probeArgv(endpoint, SSH).slice(-4)).toEqual([
          ...['-p', String(endpoint.port), '--', destination],
        ]);
      }),
      { numRuns: runs(20_000) },
    );
    expect(entered).toBeGreaterThan(100);
  });

  test("puts the user's options first and gpucloud's last", () => {
    const endpoint = { id: 'ID', host: '2001:db8::5', port: 22022, user: 'ann' };
    const ssh = {
      knownHosts: '/a b/known_hosts',
      identity: '/keys/100%',
      proxy: 'nc',
      options: ['User=eve', 'Port=1'],
      words: ['-4', '-v'],
    };
    const copying = { sources: ['-a', 'b'], target: '-c' } as const;
    const lines = [
      sshArgv(endpoint, ssh, { command: [] }),
      sshArgv(endpoint, ssh, { command: ['ls', '-l'], tty: true }),
      scpArgv(endpoint, ssh, { ...copying, from: 'here', recursive: true }),
      scpArgv(endpoint, SSH, { ...copying, from: 'instance', preserve: true }),
      tunnelArgv(endpoint, SSH, { local: 8080, remote: 80 }),
      probeArgv(endpoint, SSH),
      batchSsh(endpoint, ssh).words,
    ].map((words) => shellLine(words, 'linux').replaceAll(' -o ', '\n  -o '));
    const { user, host } = batchSsh(endpoint, ssh);
    expect([user, host]).toEqual(['ann', '2001:db8::5']);
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "ssh -4 -v
        -o User=eve
        -o Port=1 -i /keys/100%%
        -o IdentitiesOnly=yes
        -o ProxyCommand=nc
        -o HostKeyAlias=ID
        -o 'UserKnownHostsFile="/a b/known_hosts"'
        -o StrictHostKeyChecking=accept-new
        -o CheckHostIP=no -p 22022 -- ann@2001:db8::5
      ssh -4 -v
        -o User=eve
        -o Port=1 -i /keys/100%%
        -o IdentitiesOnly=yes
        -o ProxyCommand=nc
        -o HostKeyAlias=ID
        -o 'UserKnownHostsFile="/a b/known_hosts"'
        -o StrictHostKeyChecking=accept-new
        -o CheckHostIP=no -t -p 22022 -- ann@2001:db8::5 ls -l
      scp -4 -v
        -o User=eve
        -o Port=1 -i /keys/100%%
        -o IdentitiesOnly=yes
        -o ProxyCommand=nc
        -o HostKeyAlias=ID
        -o 'UserKnownHostsFile="/a b/known_hosts"'
        -o StrictHostKeyChecking=accept-new
        -o CheckHostIP=no -r -P 22022 -- ./-a b 'ann@[2001:db8::5]:-c'
      scp
        -o HostKeyAlias=ID
        -o UserKnownHostsFile=/state/ssh/known_hosts
        -o StrictHostKeyChecking=accept-new
        -o CheckHostIP=no -p -P 22022 -- 'ann@[2001:db8::5]:-a' 'ann@[2001:db8::5]:b' ./-c
      ssh
        -o HostKeyAlias=ID
        -o UserKnownHostsFile=/state/ssh/known_hosts
        -o StrictHostKeyChecking=accept-new
        -o CheckHostIP=no
        -o ControlMaster=no
        -o ControlPath=none
        -o ExitOnForwardFailure=yes
        -o ServerAliveInterval=15
        -o ServerAliveCountMax=3 -N -L 127.0.0.1:8080:localhost:80 -p 22022 -- ann@2001:db8::5
      ssh
        -o BatchMode=yes
        -o ConnectTimeout=5
        -o ControlMaster=no
        -o ControlPath=none
        -o ClearAllForwardings=yes -N
        -o HostKeyAlias=ID
        -o UserKnownHostsFile=/state/ssh/known_hosts
        -o StrictHostKeyChecking=accept-new
        -o CheckHostIP=no
        -o ForwardAgent=no
        -o ForwardX11=no -p 22022 -- ann@2001:db8::5
      ssh
        -o BatchMode=yes
        -o ConnectTimeout=15
        -o LogLevel=ERROR
        -o ControlMaster=no
        -o ControlPath=none
        -o ServerAliveInterval=15
        -o ServerAliveCountMax=3
        -o ClearAllForwardings=yes -T -4 -v
        -o User=eve
        -o Port=1 -i /keys/100%%
        -o IdentitiesOnly=yes
        -o ProxyCommand=nc
        -o HostKeyAlias=ID
        -o 'UserKnownHostsFile="/a b/known_hosts"'
        -o StrictHostKeyChecking=accept-new
        -o CheckHostIP=no
        -o ForwardAgent=no
        -o ForwardX11=no -p 22022"
    `);
  });

  test.each([
    ['/a/b-1.%h', '/a/b-1.%%h'],
    ['C:\\keys\\a', 'C:/keys/a'],
    ['/a b', '"/a b"'],
    ["/a'b", '"/a\'b"'],
    ['/a#b', '"/a#b"'],
    ['', '""'],
  ])("writes %j as a word of ssh's configuration", (path, word) => {
    expect(configWord(path)).toBe(word);
  });

  test('rejects an invalid SSH endpoint with a one-line message', () => {
    fc.assert(
      fc.property(instance, (sent) => {
        try {
          sshEndpoint(sent);
        } catch (error) {
          expect(error).toBeInstanceOf(CliError);
          if (!(error instanceof CliError)) return;
          expect(['wrongState', 'notUnderstood']).toContain(error.failure);
          // Messages quote values as JSON, which escapes line breaks.
          expect(error.message).not.toMatch(/[\n\r\0]/);
        }
      }),
      { numRuns: runs(5_000) },
    );
  });

  test('adds only the expected lines to the ssh config', () => {
    const LINES = [
      /^Host (?:gpucloud-[A-Za-z0-9][A-Za-z0-9_.-]* )?gpucloud-[0-9a-f-]{36}$/,
      new RegExp(`^ {2}HostName ${HOST.source.slice(1, -1)}$`),
      /^ {2}Port \d{1,5}$/,
      new RegExp(`^ {2}User ${USER.source.slice(1, -1)}$`),
      new RegExp(`^ {2}HostKeyAlias ${ID}$`),
      /^ {2}UserKnownHostsFile "\/with blank\/known_hosts"$/,
      /^ {2}StrictHostKeyChecking accept-new$/,
      /^ {2}CheckHostIP no$/,
      /^$/,
    ];
    fc.assert(
      fc.property(instance, text, (sent, name) => {
        const [entry] = hostEntries([{ ...sent, name, status: 'ACTIVE' }]);
        if (entry === undefined) return;
        const ssh = { knownHosts: '/with blank/known_hosts', options: [] };
        const lines = hostBlock(entry, ssh).split('\n');
        expect(lines).toHaveLength(LINES.length);
        for (const [at, line] of lines.entries()) expect(line).toMatch(LINES[at] ?? /(?!)/);
      }),
      { numRuns: runs(20_000) },
    );
  });

  test('uses only an ID as the ssh host if two instances share a name', () => {
    const box = { name: 'box', status: 'ACTIVE', ip_address: '203.0.113.7', ssh_port: 22 };
    const entries = hostEntries([ID, 'other'].map((id) => ({ ...box, id, ssh_username: 'root' })));
    expect(entries.map(({ hosts }) => hosts)).toEqual([[`gpucloud-${ID}`], ['gpucloud-other']]);
  });
});

describe('ssh -G', needs('ssh'), () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpucloud-endpoint-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Returns the settings that `ssh -G` prints, such as `hostname 203.0.113.7`. */
  function understood(args: readonly string[]): Map<string, string> {
    const told = execFileSync(programAt('ssh') ?? '', ['-G', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return new Map(
      told.split('\n').map((line) => {
        const at = line.indexOf(' ');
        return [line.slice(0, at), line.slice(at + 1)];
      }),
    );
  }

  /** Shortens an IPv6 address and lowercases a name, as ssh does. */
  function canonical(host: string): string {
    return host.includes(':')
      ? new URL(`http://[${host}]/`).hostname.slice(1, -1)
      : host.toLowerCase();
  }

  test('reads the same ssh settings from the command line and the config file', {
    timeout: 120_000,
  }, () => {
    fc.assert(
      fc.property(instance, text, (sent, name) => {
        const endpoint = knownSshEndpoint(sent);
        fc.pre(endpoint !== undefined);
        if (endpoint === undefined) return;
        const ssh = { ...SSH, knownHosts: '/st ate/100%/known_hosts' };
        const [, ...args] = sshArgv(endpoint, ssh, { command: ['-oProxyCommand=id'] });
        const file = join(folder, 'config');
        const [entry] = hostEntries([{ ...sent, name, status: 'ACTIVE' }]);
        if (entry === undefined) throw new Error('an instance with an endpoint has an entry');
        writeFileSync(file, hostBlock(entry, { knownHosts: ssh.knownHosts, options: [] }), {
          mode: 0o600,
        });
        const asked = [['-F', 'none', ...args], ...entry.hosts.map((host) => ['-F', file, host])];
        for (const words of asked) {
          const told = understood(words);
          expect(told.get('hostname')).toBe(canonical(endpoint.host));
          expect(told.get('user')).toBe(endpoint.user);
          expect(told.get('port')).toBe(String(endpoint.port));
          expect(told.get('hostkeyalias')).toBe(ID);
          expect(told.get('stricthostkeychecking')).toBe('accept-new');
          expect(told.get('proxycommand')).toBeUndefined();
          expect(told.get('localcommand')).toBeUndefined();
        }
      }),
      { numRuns: runs(75, 38) },
    );
  });
});

describe('shellLine', () => {
  test('quotes words so that bash reads them back unchanged', { timeout: 60_000 }, () => {
    const word = fc.oneof(
      fc.constantFrom(...HOSTILE.filter((one) => !one.includes('\0'))),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.string({ unit: 'binary-ascii', maxLength: 12 }),
    );
    const words = fc.array(
      word.map((one) => one.replaceAll('\0', '').toWellFormed?.() ?? one.replaceAll('\0', '')),
      { minLength: 1, maxLength: 40 },
    );
    // Passes many lines to one bash, since starting bash is slow.
    const lines = fc.array(words, { minLength: 15, maxLength: 15 });
    fc.assert(
      fc.property(lines, (given) => {
        const input = given.map((line) => `printf '%s\\0' ${shellLine(line, 'linux')}\n`).join('');
        const read = execFileSync('bash', { encoding: 'utf8', input });
        expect(read.split('\0').slice(0, -1)).toEqual(given.flat());
      }),
      { numRuns: runs(20) },
    );
  });

  test('quotes words for PowerShell on Windows', () => {
    expect(shellLine(['ssh', 'a b', "it's", 'C:\\x'], 'win32')).toBe("ssh 'a b' 'it''s' 'C:\\x'");
  });
});

const missing = (what: string, hint: string, ...fields: object[]) =>
  fields.map((one) => [one, `The service returned no ${what} for the instance.`, hint] as const);
const odd = (fields: object, shown: string, what: string, rule: string) =>
  [
    fields,
    `The service returned "${shown}" as the instance's ${what}: ${rule}. Did not start ssh.`,
    undefined,
  ] as const;
const HOST_RULE = 'must be an IP address, or a name of letters, digits, "." and "-"';
const USER_RULE =
  'must have at most 64 letters, digits, ".", "_" and "-", and start with a letter or "_"';
const NO_ADDRESS = [{ ip_address: null }, { ip_address: '' }];
const NO_USER = [{ ssh_username: null }, { ssh_username: '' }];
const LINE = '-'.repeat(60);
test.each([
  ...missing('address', 'wait until the instance is ACTIVE: add --wait', ...NO_ADDRESS),
  ...missing('SSH port', 'use --port 22 for the standard port', { ssh_port: null }),
  ...missing('user name', 'set the user name, such as --user root', ...NO_USER),
  odd({ ip_address: `${LINE}-` }, `${LINE}…`, 'address', HOST_RULE),
  odd({ ssh_port: 65_536 }, '65536', 'SSH port', 'must be a whole number from 1 to 65535'),
  odd({ ssh_username: LINE }, LINE, 'user name', USER_RULE),
])('refuses the endpoint of an instance with %j', (fields, message, hint) => {
  const sent = { id: ID, ip_address: '192.168.5.6', ssh_username: 'root', ssh_port: 22, ...fields };
  const failure = hint === undefined ? 'notUnderstood' : 'wrongState';
  const retryable = hint?.includes('--wait') === true;
  const expected = { failure, message, hint, resource: ID, retryable };
  try {
    sshEndpoint(sent);
  } catch (error) {
    const { failure, message, hint, resource, retryable } = error as CliError;
    expect({ failure, message, hint, resource, retryable }).toEqual(expected);
    return;
  }
  throw new Error('it was accepted');
});

test.each([
  [{}, 'ssh root@192.168.5.6'],
  [{ ssh_port: null }, 'ssh root@192.168.5.6'],
  [{ ssh_port: 2222 }, 'ssh -p 2222 root@192.168.5.6'],
  [{ ip_address: null }, undefined],
  [{ ssh_username: null }, undefined],
])('returns the plain ssh command of an instance with %j', (fields, command) => {
  const instance = { id: ID, ip_address: '192.168.5.6', ssh_username: 'root', ssh_port: 22 };
  expect(sshCommand({ ...instance, ...fields })).toBe(command);
});

test.each([
  [{ from: 'here', sources: ['a', '-b'], target: 'c' }, [], ['a', './-b', 'root@192.168.5.6:c']],
  [
    { from: 'instance', sources: ['a', '-b'], target: '-c' },
    [],
    ['root@192.168.5.6:a', 'root@192.168.5.6:-b', './-c'],
  ],
  [
    { from: 'instance', sources: ['a'], target: 'c', recursive: true, preserve: true },
    ['-r', '-p'],
    ['root@192.168.5.6:a', 'c'],
  ],
] as const)('copies %j with scp', (copying, flags, paths) => {
  const endpoint = { id: ID, user: 'root', host: '192.168.5.6', port: 22 };
  const argv = scpArgv(endpoint, SSH, copying);
  expect(argv.slice(argv.indexOf('CheckHostIP=no') + 1)).toEqual([
    ...flags,
    ...['-P', '22', '--'],
    ...paths,
  ]);
});
