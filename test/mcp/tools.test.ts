import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AnyCommand } from '../../src/command-line/command.ts';
import {
  valueOfArgument,
  valueOfFlag,
} from '../../src/command-line/reference/completion-values.ts';
import { PROMPTS } from '../../src/mcp/guides.ts';
import { type Level, offered } from '../../src/mcp/tools.ts';
import { COMMANDS, tree } from '../contract/tree.ts';
import { createSandboxWorld, type SandboxWorld } from '../support/run-cli.ts';
import { HARDWARE, IMAGE, OFFER } from '../support/sandbox-ids.ts';
import type { Handler } from '../support/service.ts';
import { type Agent, budget, openAgent, TOOLS, waitingClock } from './agent.ts';

const namesFor = (level: Level) => offered(TOOLS, level, false).map(({ name }) => name);

/** The commands that agents can't call, each with its reason. */
const WITHHELD: Readonly<Record<string, readonly string[]>> = {
  'signs in or changes an account': [
    ...['login', 'logout', 'api-keys create', 'me set-password'],
    ...['profiles list', 'profiles get', 'profiles use', 'profiles add', 'profiles set'],
    ...['profiles move', 'profiles remove'],
  ],
  'prints secrets': ['instances secrets', 'instances open'],
  'runs programs of this computer, or serves': [
    ...['instances ssh', 'instances scp', 'instances tunnel', 'instances ssh-config', 'mcp'],
    ...['completion', 'sandbox serve', 'sandbox tour'],
  ],
  'spends money outside of the budget': [
    ...['drives create', 'drives update', 'drives resume', 'instances start', 'api'],
  ],
  'changes what ends an instance': ['instances expire', 'instances reap', 'instances untrack'],
  'writes files of this computer': ['instances rescue'],
  'is for people': ['help'],
  'changes the sandbox': [
    ...['sandbox advance', 'sandbox deposit', 'sandbox fault', 'sandbox gpu', 'sandbox rogue'],
    'sandbox reset',
  ],
};

test('decides for each command whether agents can call it', () => {
  const withheld = Object.values(WITHHELD).flat();
  expect([...TOOLS.map(({ words }) => words.join(' ')), ...withheld].sort()).toEqual(COMMANDS);
});

test('adds tools with each level', () => {
  const read = namesFor('read');
  const jobs = namesFor('jobs');
  expect(jobs.filter((name) => !read.includes(name))).toEqual([
    ...['instances_terminate', 'run', 'jobs_attach', 'jobs_stop'],
  ]);
  expect(namesFor('all').filter((name) => !jobs.includes(name))).toEqual([
    ...['instances_create', 'instances_reorder', 'instances_stop'],
    ...['instances_recover', 'instances_track', 'catalog_add', 'catalog_remove'],
    ...['ssh_keys_add', 'ssh_keys_delete', 'billing_promo', 'me_update'],
  ]);
  expect(read.filter((name) => name.startsWith('sandbox'))).toEqual([]);
});

test('leaves out the flags of a command that no call can use', () => {
  const flagsOf = (name: string) => TOOLS.find((tool) => tool.name === name)?.parameters ?? [];
  const counts = (name: string) => flagsOf(name).filter(({ flag }) => flag?.endsWith('count'));
  expect(counts('run')).toEqual([]);
  expect(counts('instances_create')).toHaveLength(2);
});

test('types each word of a choice as text', () => {
  const choices = TOOLS.flatMap(({ definition }) =>
    Object.values(definition.inputSchema.properties ?? {}),
  ).filter((one) => 'enum' in one);
  expect(choices).toHaveLength(5);
  for (const choice of choices) expect(choice).toMatchObject({ type: 'string' });
});

test('describes a tool with its arguments, types and annotations', () => {
  const definition = TOOLS.find(({ name }) => name === 'instances_stop')?.definition;
  const { outputSchema: _schema, ...rest } = definition ?? {};
  expect({ ...rest, description: '' }).toEqual({
    name: 'instances_stop',
    title: 'Stop instances; their disks are kept',
    description: '',
    inputSchema: {
      type: 'object',
      properties: {
        instance: {
          type: 'array',
          items: { type: 'string' },
          description: expect.any(String),
        },
        wait: { type: 'boolean', description: 'wait until the instance is stopped' },
        wait_timeout: { type: 'string', description: expect.any(String) },
        poll_interval: { type: 'string', description: expect.any(String) },
        query: expect.objectContaining({ type: 'string' }),
        columns: expect.objectContaining({ type: 'string' }),
      },
      required: ['instance'],
      additionalProperties: false,
    },
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
    },
  });
});

test('takes true or a value for a flag whose value is optional, and a number also as text', () => {
  const create = TOOLS.find(({ name }) => name === 'instances_create');
  expect(create?.definition.inputSchema.properties).toMatchObject({
    wait: { anyOf: [{ type: 'boolean' }, { type: 'string' }] },
    max_price: { type: ['string', 'number'] },
  });
});

test('names every instance that a tool changes', () => {
  const changing = TOOLS.filter(({ facts }) => facts.allow !== 'read');
  const names = new Set(changing.flatMap(({ parameters }) => parameters.map((one) => one.name)));
  // `--all` would terminate instances that the session did not rent.
  expect(names).not.toContain('all');
  expect(names).toContain('instance');
});

test('never takes a decision of the person who starts the server, or holds a call', () => {
  const decisions = [
    ...['yes', 'profile', 'base_url', 'debug', 'show_secrets', 'json', 'output', 'no_input'],
    ...['unenforced', 'here', 'pass_env', 'identity', 'ssh_option', 'ssh_arg', 'follow'],
    ...['watch', 'interval', 'keep_on_failure'],
  ];
  const found = TOOLS.flatMap(({ name, parameters }) =>
    parameters.filter((one) => decisions.includes(one.name)).map((one) => `${name} ${one.name}`),
  );
  expect(found).toEqual([]);
});

test('knows every value that names an instance or a local file', () => {
  const command = (words: readonly string[]) =>
    words.reduce<AnyCommand>(
      (at, word) => at.commands.find((one) => one.name() === word) ?? at,
      tree,
    );
  const wrong = TOOLS.flatMap(({ name, words, parameters }) => {
    const at = command(words);
    return parameters
      .filter(({ name: parameter, flag, holds }) => {
        const option = at.options.find(({ long }) => long === flag);
        const argument = at.registeredArguments.find((one) => one.name() === parameter);
        const value =
          argument === undefined
            ? option && valueOfFlag(at, option)
            : valueOfArgument(at, argument);
        const of = value?.kind === 'names' ? value.of : [];
        const isInstance = of.includes('instance') || of.includes('job');
        const isPath = value?.kind === 'file' || value?.kind === 'path';
        return (
          (isInstance && holds !== 'instance') || (isPath && !['path', 'rescue'].includes(holds))
        );
      })
      .map((one) => `${name} ${one.name}`);
  });
  expect(wrong).toEqual([]);
});

describe('in the sandbox', () => {
  let world: SandboxWorld;
  let agent: Agent;
  let change: (handler: Handler) => Handler;

  beforeEach(async () => {
    change = (handler) => handler;
    const changed =
      (handler: Handler): Handler =>
      (request) =>
        change(handler)(request);
    world = await createSandboxWorld(changed, waitingClock());
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE, '--wait']);
    // Without ssh, which would try for 15 s to reach the address of an instance.
    const env = { PATH: world.home };
    agent = await openAgent(world, ['--allow', 'all', ...budget(1000)], { env });
    // From now on the client rejects results that don't match their schemas.
    await agent.client.listTools();
  });
  afterEach(async () => {
    await agent.end();
    await world.close();
  });

  test('lists valid schemas, and no tool of the built-in sandbox to others', async () => {
    const ajv = new Ajv2020({ strict: false });
    const { tools } = await agent.client.listTools();
    expect(tools.filter(({ name }) => name.startsWith('sandbox'))).toEqual([]);
    for (const { inputSchema, outputSchema } of tools) {
      expect(ajv.validateSchema(inputSchema), JSON.stringify(ajv.errors)).toBe(true);
      expect(ajv.validateSchema(outputSchema ?? {}), JSON.stringify(ajv.errors)).toBe(true);
    }
  });

  const GIVEN: Readonly<Record<string, Record<string, unknown>>> = {
    instances_get: { instance: ['trainer'] },
    instances_events: { instance: 'trainer' },
    instances_wait: { instance: ['trainer'] },
    instances_endpoints: { instance: 'trainer' },
    jobs_get: { instance: 'trainer' },
    jobs_logs: { instance: 'trainer' },
    templates_get: { template: ['jupyterlab'] },
    drives_get: { drive: ['data'] },
    ssh_keys_get: { key: ['laptop'] },
    commands: { path: ['instances', 'get'] },
  };
  /** They find nothing in this sandbox. */
  const MISSING = ['jobs_get', 'jobs_logs', 'drives_get', 'ssh_keys_get'];
  const read = namesFor('read');

  test('answers each read tool with a result of its schema or our JSON error, and no key', async () => {
    for (const name of read) {
      const content = await agent.call(name, GIVEN[name]);
      if (MISSING.includes(name)) {
        expect(content, name).toMatchObject({ isError: true, error: { code: 'not_found' } });
      } else if (!content.isError) {
        expect(content.result, name).toBeDefined();
      } else {
        expect(content.error, name).toMatchObject({
          code: expect.any(String),
          message: expect.any(String),
          may_be_billing: false,
        });
      }
    }
    expect(agent.pipes.written).not.toContain(world.env.GPUCLOUD_API_KEY ?? '');
    expect(agent.pipes.written.length).toBeGreaterThan(10_000);
  });

  test('writes no secret of an instance', async () => {
    const container = ['--docker-image', 'nginx', '--env', 'TOKEN=hidden-value'];
    for (const words of [
      ['lab', '--template', 'jupyterlab'],
      ['box', ...container],
    ]) {
      const { stderr } = await world.cli(['instances', 'create', ...words, ...HARDWARE, '--wait']);
      expect(stderr).not.toContain('error');
    }
    const { stdout } = await world.cli(['instances', 'secrets', 'lab', '--json']);
    const secrets = Object.values(JSON.parse(stdout)).map(String);
    expect(secrets.length).toBeGreaterThan(0);
    for (const name of ['instances_list', 'status', 'audit', 'instances_inventory', 'doctor']) {
      await agent.call(name);
    }
    for (const name of ['instances_get', 'instances_wait']) {
      await agent.call(name, { instance: ['lab', 'box'] });
    }
    for (const name of ['instances_events', 'instances_endpoints', 'instances_secrets']) {
      await agent.call(name, { instance: 'lab' }).catch(() => undefined);
    }
    expect(agent.pipes.written).toContain('"lab');
    for (const secret of [...secrets, 'hidden-value']) {
      expect(agent.pipes.written).not.toContain(secret);
    }
  });

  test('answers two calls of each tool at once', async () => {
    // instances_top finds no ssh here.
    const slow = [...MISSING, 'doctor', 'instances_top'];
    const quick = read.filter((name) => !slow.includes(name));
    const names = [...quick, ...quick];
    const contents = await Promise.all(names.map((name) => agent.call(name, GIVEN[name])));
    expect(contents.filter(({ result }) => result === undefined)).toEqual([]);
  });

  test('selects from a result', async () => {
    const content = await agent.call('instances_list', { query: '[].name' });
    expect(content).toEqual({ isError: false, selected: ['trainer'] });
    const columns = await agent.call('instances_list', { columns: 'name,status' });
    expect(columns.selected).toEqual([{ name: 'trainer', status: 'ACTIVE' }]);
  });

  test('stops a query after a second, and answers the next call', async () => {
    const query = `@${'|[@,@][]'.repeat(30)}`;
    const { error } = await agent.call('instances_list', { query });
    expect(error?.code).toBe('usage');
    expect(error?.message).toMatch(/: it takes longer than 1 s$/);
    expect(await agent.call('instances_list', { query: '[0].name' })).toMatchObject({
      selected: 'trainer',
    });
  });

  test('changes what the session rented', async () => {
    const hardware = { offer: [OFFER], image: IMAGE, terminate_after: '50m' };
    for (const [name, given] of [
      ['instances_create', { name: 'mine', ...hardware, wait: true }],
      ['instances_stop', { instance: ['mine'], wait: true }],
      ['instances_terminate', { instance: ['mine'], wait: true }],
      ['instances_reorder', { instance: 'mine', new_name: 'again', terminate_after: '50m' }],
      ['catalog_add', { kind: 'offer', id: OFFER, name: 'small' }],
      ['me_update', { name: 'Somebody' }],
    ] as const) {
      const content = await agent.call(name, given);
      expect(content, `${name} ${JSON.stringify(content)}`).toMatchObject({ isError: false });
    }
    expect(await agent.purse()).toMatchObject({
      committed: '179.80',
      instances: [{ name: 'again' }],
    });
  });

  test('reads the purse and the catalog', async () => {
    const { resources } = await agent.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['gpucloud://purse', 'gpucloud://catalog']);
    const { contents } = await agent.client.readResource({ uri: 'gpucloud://catalog' });
    expect(JSON.parse(String(Object(contents[0]).text))).toMatchObject({
      result: [{ kind: 'offer' }, {}],
    });
    await expect(agent.client.readResource({ uri: 'gpucloud://docs/../x' })).rejects.toThrow(
      'Unknown resource',
    );
  });

  test('offers its prompts', async () => {
    const prompts = PROMPTS.map(({ text: _text, ...prompt }) => prompt);
    expect(await agent.client.listPrompts()).toEqual({ prompts });
    await expect(agent.client.getPrompt({ name: 'toString' })).rejects.toThrow('Unknown prompt');
    const given = { name: 'run_folder', arguments: { command: 'python train.py' } };
    expect(await agent.client.getPrompt(given)).toEqual({
      messages: [
        {
          role: 'user',
          content: { type: 'text', text: PROMPTS[0]?.text(given.arguments) },
        },
      ],
    });
  });

  test('rejects an unknown tool and arguments that are no object', async () => {
    await expect(agent.call('instances_secrets')).rejects.toThrow('Unknown tool');
    const list = { name: 'status', arguments: [] } as unknown as { name: string };
    await expect(agent.client.callTool(list)).rejects.toThrow(/Invalid/);
    agent.pipes.stdin.write('[]\n{"jsonrpc": 1}\nno JSON\n');
    expect(await agent.call('me_get')).toMatchObject({ isError: false });
  });

  test('leaves after a cancelled call what Ctrl-C leaves', async () => {
    // The first Ctrl-C waits for the response of a request that rents.
    let respond = () => {};
    const responding = new Promise<void>((resolve) => {
      respond = resolve;
    });
    let isSent = false;
    change = (handler) => async (request) => {
      const isRental = request.method === 'POST' && request.path === '/instances';
      const response = await handler(request);
      if (isRental) {
        isSent = true;
        await responding;
      }
      return response;
    };
    const stop = new AbortController();
    const given = { name: 'slow', offer: [OFFER], image: IMAGE, terminate_after: '50m' };
    const call = agent.call('instances_create', { ...given, wait: true }, stop.signal);
    await expect.poll(() => isSent, { timeout: 20_000 }).toBe(true);
    stop.abort();
    await expect(call).rejects.toThrow();
    expect(await agent.purse()).toMatchObject({ committed: '89.90', unknown_requests: ['slow'] });
    respond();
    const names = async () => (await agent.purse()).instances.map(({ name }) => name);
    await expect.poll(names, { timeout: 20_000 }).toEqual(['slow']);
    expect(await agent.purse()).toMatchObject({ committed: '89.90', unknown_requests: [] });
  });
});
