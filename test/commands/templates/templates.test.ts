import { describe, expect, it } from 'vitest';
import { inZone } from '../../support/in-zone.ts';
import { createSandboxWorld, createWorld, type World } from '../../support/run-cli.ts';
import { ok, sent } from '../../support/service.ts';

const WHISPER = {
  id: 't-2',
  slug: 'whisper',
  name: 'Whisper',
  description: 'Speech to text',
  readme: '# Whisper\n\nTurns **speech** into text.',
  tags: ['audio', 'text'],
  logo_url: 'https://example.com/w.png',
  image_name: 'registry.example.com/whisper:3',
  run_command: 'serve --port 9000',
  shm_size: '4g',
  endpoints: [
    {
      auth: { type: 'token', token_key: 'API_TOKEN' },
      name: 'API',
      port: 9000,
      is_main: true,
      protocol: 'TCP',
      url_template: 'https://{ip}:{port}/?t={API_TOKEN}',
    },
    { auth: { type: 'basic', token_key: '' }, name: 'metrics', port: 9100, url_template: '' },
  ],
  volumes: [{ host_path: '/models', container_path: '/root/.cache' }],
  env_vars: { MODEL: 'large', BEAMS: 5 },
  post_start_script: 'echo one\necho two',
  min_disk_gb: 30,
  min_cuda_version: '12.2',
  is_active: true,
  sort_order: 20,
  variables_schema: [
    { key: 'API_TOKEN', type: 'generated', label: 'Token', length: 32, generator: 'hex' },
  ],
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-02T00:00:00.000Z',
};

async function worldOf(...templates: Record<string, unknown>[]): Promise<World> {
  return createWorld({
    handler: ({ method, path }) =>
      method === 'GET' && path === '/templates'
        ? ok(templates)
        : { status: 404, body: { statusCode: 404, message: 'no such path', error: 'Not Found' } },
  });
}

describe('templates list', () => {
  it('sorts templates by sort_order, with missing values last', async () => {
    const world = await worldOf(
      { id: 't-0', slug: 'none' },
      WHISPER,
      { ...WHISPER, id: 't-1', slug: 'first', sort_order: 1, min_disk_gb: null },
      { id: 't-4', slug: 'null', sort_order: null },
    );
    await world.cli(['templates', 'list']);
  });
});

describe('templates get', () => {
  it('prints every field of a template, and its readme as Markdown', async () => {
    const world = await worldOf(WHISPER);
    const { stdout, requests } = await world.cli(['templates', 'get', 'whisper']);
    expect(stdout.match(/^(Created|Updated):.*/gm)).toEqual([
      inZone('Created:        2026-01-01 00:00:00 +00:00'),
      inZone('Updated:        2026-01-02 00:00:00 +00:00'),
    ]);
    expect(sent(requests)).toEqual(['GET /templates']);
  });

  it("prints a template's readme as Markdown also in a terminal", async () => {
    const world = await worldOf(WHISPER);
    const argv = ['templates', 'get', 'whisper', '--no-color'];
    const { code, stdout } = await world.cli(argv, { terminal: true });
    expect(code).toBe(0);
    expect(stdout).toMatch(/\n\n# Whisper\n\nTurns \*\*speech\*\* into text\.\n$/);
  });

  it('wraps the readme between words in a terminal, except code and tables', async () => {
    const code = `pip install ${'package '.repeat(12)}end`;
    const table = `| ${'cell '.repeat(20)}|`;
    const readme = [
      `${'word '.repeat(20)}end`,
      `- ${'item '.repeat(20)}end`,
      '```sh',
      code,
      '```',
      table,
      `    ${code}`,
    ].join('\n');
    const world = await worldOf({ ...WHISPER, readme });
    const shown = async (...flags: string[]) =>
      (
        await world.cli(['templates', 'get', 'whisper', '--no-color', ...flags], {
          terminal: true,
          columns: 80,
        })
      ).stdout;
    const wrapped = [
      `${'word '.repeat(16)}`.trimEnd(),
      `${'word '.repeat(4)}end`,
      `- ${'item '.repeat(15)}`.trimEnd(),
      `  ${'item '.repeat(5)}end`,
      '```sh',
      code,
      '```',
      table,
      `    ${code}`,
      '',
    ].join('\n');
    expect(await shown('--markdown')).toBe(wrapped);
    expect((await shown()).endsWith(`\n\n${wrapped}`)).toBe(true);
    const piped = await world.cli(['templates', 'get', 'whisper', '--markdown']);
    expect(piped.stdout).toBe(`${readme}\n`);
  });

  it.each(['whisper', 'Whisper', 't-2'])(
    'finds a template by slug, name or ID: %s',
    async (typed) => {
      const world = await worldOf({ id: 't-1', slug: 'other', name: 'Other' }, WHISPER);
      const { stdout } = await world.cli(['templates', 'show', typed, '--json']);
      expect(JSON.parse(stdout)).toEqual(WHISPER);
    },
  );

  it('finds a template of the sandbox', async () => {
    const world = await createSandboxWorld();
    const { code, stdout } = await world.cli(['templates', 'get', 'jupyterlab'], {
      terminal: true,
    });
    expect(code).toBe(0);
    expect(stdout).toContain('# JupyterLab\n\nNotebooks with Python, PyTorch and CUDA.');
  });

  it('accepts missing, null and invalid fields of a template', async () => {
    const world = await worldOf({
      id: 't-9',
      name: null,
      readme: null,
      tags: [],
      endpoints: [{ auth: null }, { name: 'x', auth: { type: 'basic' }, port: null }],
      volumes: [{}],
      env_vars: [['A', 1]],
      variables_schema: [{}],
      is_active: null,
      min_disk_gb: null,
      min_cuda_version: '',
    });
    await world.cli(['templates', 'get', 't-9']);
    const named = await worldOf({ id: 't-9', env_vars: 'A=1' });
    await named.cli(['templates', 'get', 't-9']);
  });

  it('prints only the readme of a template with --markdown', async () => {
    const world = await worldOf(WHISPER, { id: 't-3', slug: 'bare' });
    const readme = await world.cli(['templates', 'get', 'whisper', '--markdown']);
    expect(readme.stdout).toBe('# Whisper\n\nTurns **speech** into text.\n');
    expect((await world.cli(['templates', 'get', 'bare', '--markdown'])).stdout).toBe('\n');
  });

  it("omits a template's readme with --columns", async () => {
    const world = await worldOf(WHISPER);
    const { stdout } = await world.cli([
      ...['templates', 'get', 'whisper', '--columns', 'slug', '--no-header'],
    ]);
    expect(stdout).toBe('whisper\n');
  });

  it('exits with 3 for an unknown template, and with 2 for an ambiguous name', async () => {
    const world = await worldOf(WHISPER, { id: 't-3', slug: 'w3', name: 'whisper' });
    await world.cli(['templates', 'get', 'nix']);
    await world.cli(['templates', 'get', 'whisper']);
  });

  it.each([
    [['get'], 'missing argument: template'],
    [['get', ''], 'TEMPLATE "": must not be empty'],
    [['get', 'whisper', '--markdown', '--json'], "--markdown can't be used with -o json"],
    [['get', 'whisper', '--markdown', '-o', 'yaml'], "--markdown can't be used with -o yaml"],
    [['get', 'whisper', '--markdown', '-q'], "--markdown can't be used with -o id"],
    [['get', 'whisper', '--columns', 'readme'], "--columns: unknown column 'readme'"],
    [['list', '--sort', 'colour'], "--sort: unknown column 'colour'"],
  ])('rejects templates get %j before any request', async (given, words) => {
    const world = await worldOf(WHISPER);
    const { stderr, requests } = await world.cli(['templates', ...given]);
    expect(stderr).toContain(words);
    expect(requests).toEqual([]);
  });
});
