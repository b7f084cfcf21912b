import { afterEach, describe, expect, test } from 'vitest';
import { endpointsOf, fillTemplate } from '../../../src/ssh/endpoints.ts';
import { redirectOf } from '../../support/browser.ts';
import { fc } from '../../support/random.ts';
import { createSandboxWorld, createWorld, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { ok } from '../../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const TOKEN = 'f00dfeedf00dfeed';

const TEMPLATES = [
  { id: 'tpl-0', endpoints: [] },
  {
    id: 'tpl-1',
    slug: 'jupyter',
    name: 'Jupyter',
    endpoints: [
      {
        ...{ name: 'lab', port: 8888, is_main: true, protocol: 'TCP' },
        url_template: 'http://{ip}:{port}/?token={{secrets.TOKEN}}',
      },
      {
        ...{ name: 'board', port: 6006, is_main: false, protocol: 'TCP' },
        url_template: 'http://${ip}:6006/{MISSING}',
      },
    ],
  },
  { id: 'tpl-2', slug: 'other', name: 'Other', endpoints: [] },
];

/** Creates a service with one instance and the test's connection data. */
function serviceWith(instance: Record<string, unknown>): Promise<World> {
  return createWorld({
    handler: ({ path }) =>
      path === '/templates'
        ? ok(TEMPLATES)
        : ok({ id: ID, name: 'lab', status: 'ACTIVE', ip_address: '203.0.113.7', ...instance }),
  });
}

let world: World;
let opened: World | undefined;

/** Closes the world after the test. */
function use<T extends World>(made: T): T {
  opened = made;
  return made;
}

afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

describe('instances endpoints', () => {
  test("prints the sandbox's endpoints, with the token masked", async () => {
    world = use(await createSandboxWorld());
    await world.cli([
      ...['instances', 'create', 'lab', ...HARDWARE, '--template', 'jupyterlab', '--wait'],
    ]);
    const masked = await world.cli(['instances', 'endpoints', 'lab', '--json']);
    const shown = await world.cli(['instances', 'endpoints', 'lab', '--json', '--show-secrets']);
    const [first] = JSON.parse(shown.stdout);
    expect(first).toMatchObject({
      source: 'service',
      is_main: true,
      url: expect.stringMatching(/^http:\/\/203\.0\.113\.\d+:8888\/.*[0-9a-f]{16,}/),
    });
    expect(JSON.parse(masked.stdout)[0].url).toContain('********');
    expect(shown.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  test("builds links from the template's patterns if the service returns no endpoints", async () => {
    world = use(
      await serviceWith({
        connection_info: { type: 'template', endpoints: [], secrets: { TOKEN } },
        application_template: { slug: 'jupyter' },
      }),
    );
    const { requests } = await world.cli([
      ...['instances', 'endpoints', ID, '--json', '--show-secrets'],
    ]);
    expect(requests.map(({ path }) => path)).toEqual([`/instances/${ID}`, '/templates']);
    await world.cli(['instances', 'endpoints', ID]);
    await world.cli(['instances', 'endpoints', ID, '--show-secrets']);
  });

  test('prints an IPv6 address in brackets', async () => {
    const docker_config = { ports: [{ external_port: 8080, internal_port: 80, name: 'web' }] };
    world = use(await serviceWith({ ip_address: '2001:db8::7', docker_config }));
    await world.cli(['instances', 'endpoints', ID, '--json']);
  });

  test('prints published ports of a container as addresses, without links', async () => {
    world = use(
      await serviceWith({
        docker_config: { ports: [{ external_port: 8080, internal_port: 80, name: 'web' }, 'odd'] },
      }),
    );
    await world.cli(['instances', 'endpoints', ID, '--json']);
  });

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a list of links', ['http://a.example/']],
    ['a map of links', { web: 'https://a.example/x' }],
    ['a string', 'http://a.example/'],
    ['other field names', [{ link: 'http://b.example/', external_port: 1 }]],
    ['a dangerous scheme', ['javascript:alert(1)', 'file:///etc/passwd']],
    ['unusable values', [null, 5, [1], {}]],
  ])('exits with 0 in endpoints if the service returns %s', async (_what, endpoints) => {
    world = use(await serviceWith({ connection_info: { endpoints } }));
    expect((await world.cli(['instances', 'endpoints', ID, '--json'])).code).toBe(0);
    expect((await world.cli(['instances', 'get', ID])).code).toBe(0);
  });

  test.each([
    [null, '{"port":80}'],
    ['192.0.2.7', '192.0.2.7:80'],
    ['2001:db8::7', '[2001:db8::7]:80'],
  ])('shows a port without a link at the address %j', (ip_address, address) => {
    const connection_info = { endpoints: [{ port: 80 }] };
    expect(endpointsOf({ id: ID, status: 'ACTIVE', ip_address, connection_info })).toEqual([
      {
        name: 'endpoint 1',
        url: null,
        address,
        port: 80,
        protocol: null,
        is_main: false,
        source: 'service',
      },
    ]);
  });

  test('accepts any JSON as endpoints, and links only to http and https', async () => {
    world = use(await serviceWith({}));
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (endpoints, secrets) => {
        const read = endpointsOf({
          id: ID,
          status: 'ACTIVE',
          connection_info: { endpoints, secrets },
        });
        for (const { url } of read) {
          expect(url === null || /^https?:/.test(url)).toBe(true);
        }
      }),
    );
  });
});

test('prefers the url of an endpoint to its other links', () => {
  const endpoints = [{ href: 'https://c/', link: 'https://b/', url: 'https://a/' }];
  const [found] = endpointsOf({ id: ID, status: 'ACTIVE', connection_info: { endpoints } });
  expect(found?.url).toBe('https://a/');
});

describe('link patterns in instances endpoints', () => {
  const values = { ip: '1.2.3.4', port: 80, secrets: { KEY: 'a b&c', n: 5, nested: {} } };

  test.each([
    ['http://{ip}:{port}/', 'http://1.2.3.4:80/'],
    ['http://{{ip}}:{{port}}/', 'http://1.2.3.4:80/'],
    ['http://${ip}/', 'http://1.2.3.4/'],
    ['http://{{ ip }}/', 'http://1.2.3.4/'],
    ['{host} {ip_address} {Port} {address}', undefined],
    ['{host} {ip_address} {Port}', '1.2.3.4 1.2.3.4 80'],
    ['http://{IP}/?t={KEY}', 'http://1.2.3.4/?t=a%20b%26c'],
    ['?t={{secrets.KEY}}&n={secret.n}', '?t=a%20b%26c&n=5'],
    ['plain', 'plain'],
    ['{unknown}', undefined],
    ['{nested}', undefined],
    ['{toString}', undefined],
    ['{a.secrets.KEY}', undefined],
  ])('converts the link pattern %s to %s', (pattern, filled) => {
    expect(fillTemplate(pattern, values)).toBe(filled);
  });

  test('puts an IPv6 address in brackets, and omits the link without an address', () => {
    expect(fillTemplate('http://{ip}/', { ...values, ip: '2001:db8::1' })).toBe(
      'http://[2001:db8::1]/',
    );
    expect(fillTemplate('http://{ip}/', { ...values, ip: undefined })).toBeUndefined();
    expect(fillTemplate('http://{ip}:{port}/', { ...values, port: undefined })).toBeUndefined();
  });
});

test('never cuts a link or a secret in a terminal', async () => {
  const long = 'f00d'.repeat(20);
  const connection_info = { type: 'template', endpoints: [], secrets: { TOKEN: long } };
  const application_template = { name: 'Jupyter' };
  world = use(await serviceWith({ application_template, connection_info }));
  const terminal = { terminal: true, columns: 40 };
  await world.cli(['instances', 'endpoints', ID, '--show-secrets'], terminal);
  expect((await world.cli(['instances', 'secrets', ID], terminal)).stdout).toContain(long);
});

describe('instances secrets', () => {
  test('prints all secrets or one secret unmasked', async () => {
    world = use(await serviceWith({ connection_info: { secrets: { TOKEN, deep: { a: 1 } } } }));
    const all = await world.cli(['instances', 'secrets', ID, '--json']);
    expect(JSON.parse(all.stdout)).toEqual([
      { key: 'TOKEN', value: TOKEN },
      { key: 'deep', value: { a: 1 } },
    ]);
    await world.cli(['instances', 'secrets', ID]);
    expect((await world.cli(['instances', 'secrets', ID, 'TOKEN'])).stdout).toBe(`${TOKEN}\n`);
    expect((await world.cli(['instances', 'secrets', ID, 'deep'])).stdout).toBe('{"a":1}\n');
    await world.cli(['instances', 'secrets', ID, 'TOKEN', '--json']);
    expect((await world.cli(['instances', 'get', ID, '--json'])).stdout).not.toContain(TOKEN);
  });

  test('exits with 3 for a missing key and lists the others', async () => {
    world = use(await serviceWith({ connection_info: { secrets: { TOKEN } } }));
    await world.cli(['instances', 'secrets', ID, 'NOPE']);
    expect((await world.cli(['instances', 'secrets', ID, 'constructor'])).code).toBe(3);
  });

  test.each([[undefined], [null], [[]], ['odd'], [7]])(
    'exits with 0 for secrets of %j',
    async (secrets) => {
      world = use(await serviceWith({ connection_info: { secrets } }));
      expect((await world.cli(['instances', 'secrets', ID])).code).toBe(0);
      expect((await world.cli(['instances', 'secrets', ID, 'KEY'])).code).toBe(3);
    },
  );
});

describe('instances open', () => {
  const endpoints = [
    { name: 'lab', url: `http://203.0.113.7:8888/?token=${TOKEN}`, is_main: true },
    { name: 'board', url: 'http://203.0.113.7:6006/' },
    { name: 'raw', port: 22 },
  ];

  test('prints the link of the main or named endpoint when not interactive', async () => {
    world = use(await serviceWith({ connection_info: { endpoints, secrets: { TOKEN } } }));
    await world.cli(['instances', 'open', ID]);
    expect((await world.cli(['instances', 'open', ID, 'board'])).stdout).toBe(
      'http://203.0.113.7:6006/\n',
    );
    // The same name in any case.
    await world.cli(['instances', 'open', ID, 'Board']);
    await world.cli(['instances', 'open', ID, '--json']);
  });

  test('prefers an endpoint in the typed case', async () => {
    const links = ['Web', 'web'].map((name) => ({ name, url: `http://203.0.113.7/${name}` }));
    world = use(await serviceWith({ connection_info: { endpoints: links } }));
    expect((await world.cli(['instances', 'open', ID, 'web'])).stdout).toBe(
      'http://203.0.113.7/web\n',
    );
  });

  test('exits with 3 for an endpoint without a link and for an unknown name', async () => {
    world = use(await serviceWith({ connection_info: { endpoints } }));
    await world.cli(['instances', 'track', ID]);
    await world.cli(['instances', 'open', 'lab', 'RAW']);
    const none = await world.cli(['instances', 'open', ID, 'nope']);
    expect(none.code).toBe(3);
    world = use(await serviceWith({ ip_address: null, connection_info: { endpoints: [null] } }));
    await world.cli(['instances', 'open', ID, 'endpoint 1']);
  });

  test('suggests a tunnel for an instance without endpoints', async () => {
    world = use(await serviceWith({ connection_info: { endpoints: [] } }));
    await world.cli(['instances', 'open', ID]);
  });

  test('prints the link if the browser does not request the page in time, and not if it does', async () => {
    world = use(await serviceWith({ connection_info: { endpoints, secrets: { TOKEN } } }));
    await world.cli(['instances', 'open', ID], {
      terminal: true,
      openFile: async () => true,
    });
    // The time until the browser gives up never passes.
    world.clock.sleep = () => new Promise<never>(() => undefined);
    await world.cli(['instances', 'open', ID], {
      terminal: true,
      openFile: async (page) => (await redirectOf(page)) !== '',
    });
  });

  test('prints the link that only the sandbox has if no browser is found', async () => {
    world = use(await createWorld({ handler: () => 'hangUp', signedIn: false }));
    const env = { GPUCLOUD_PROFILE: 'sandbox' };
    const lab = ['instances', 'create', 'lab', ...HARDWARE, '--template', 'jupyterlab', '--wait'];
    expect((await world.cli(lab, { env })).code).toBe(0);
    const { stdout } = await world.cli(['instances', 'open', 'lab'], { env, terminal: true });
    expect(stdout).toMatch(/^http:/);
  });
});
