import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { putJob } from '../contract/tree.ts';
import { createWorld, journalOf, type World } from '../support/run-cli.ts';
import { HOSTILE } from './hostile.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: () => 'hangUp', signedIn: false });
});

type Env = Readonly<Record<string, string | undefined>>;

/** Returns what bash suggests for a line with the cursor at its end. */
async function offered(line: string, env: Env = {}): Promise<string[]> {
  const replaced = /(?:\\.|[^\s=:])*$/.exec(line)?.[0] ?? '';
  const result = await world.cli(['__complete', 'bash', line, replaced], { env });
  expect(result).toMatchObject({ code: 0, stderr: '', requests: [] });
  return result.stdout.split('\n').slice(1, -1);
}

async function put(path: string, content: object | string): Promise<void> {
  const file = join(world.home, path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
}

describe('commands, flags and their values', () => {
  test.each([
    ['gpucloud inst', ['instances']],
    ['gpucloud instance li', ['list']],
    ['gpucloud instances l', ['list']],
    ['gpucloud instances ls ', []],
    ['gpucloud nothing of th', []],
    ['gpucloud instances nothing st', []],
    ['gpucloud reboot ', []],
    ['gpucloud instances list --js', ['--json']],
    ['gpucloud instances list --he', ['--help']],
    ['gpucloud --vers', ['--version']],
    ['gpucloud instances list -o j', ['json', 'jsonl']],
    ['gpucloud instances list -o=', []],
    ['gpucloud instances list --output=j', ['json', 'jsonl']],
    ['gpucloud instances list --output=', 'table json jsonl csv tsv yaml id'.split(' ')],
    ['gpucloud --color a', ['auto', 'always']],
    ['gpucloud --color=a', ['auto', 'always']],
    ['gpucloud -o json driv', ['drives']],
    ['gpucloud --output=json drives li', ['list']],
    ['gpucloud drives -o json li', ['list']],
    ['gpucloud --profile drives drives li', ['list']],
    ['gpucloud drives list --columns name,i', ['name,id']],
    ['gpucloud drives list --columns name,size_gb,n', []],
    ['gpucloud drives list --columns=name,st', ['name,status']],
    ['gpucloud drives list --sort na', ['name']],
    ['gpucloud drives list --sort=na', ['name']],
    ['gpucloud drives list --sort -na', ['-name']],
    ['gpucloud drives list --sort=-na', ['-name']],
    ['gpucloud instances wait x --for st', ['stopped']],
    ['gpucloud instances start --wait=s', ['ssh']],
    ['gpucloud instances start --wait s', []],
    ['gpucloud billing transactions --type bonus,r', ['bonus,refund']],
    ['gpucloud sandbox fault fail-st', ['fail-start', 'fail-stop']],
    ['gpucloud sandbox serve --fault slow', ['slow-provisioning']],
    ['gpucloud help instances st', ['start', 'stop']],
    ['gpucloud help instances stop ', []],
    ['gpucloud help instances --js', []],
    ['gpucloud help commands inst', []],
    ['gpucloud completion - z', []],
    ['gpucloud instances list -x--output=j', []],
    ['gpucloud help out', ['output']],
    ['gpucloud help e', ['exit-codes', 'environment']],
    ['gpucloud help instances out', []],
    ['gpucloud -yojson driv', ['drives']],
    ['gpucloud -yo json driv', ['drives']],
    ['gpucloud api POST /x -F ', []],
    ['gpucloud api P', ['POST', 'PUT', 'PATCH']],
    ['gpucloud completion z', ['zsh']],
    ['gpucloud commands inst', ['instances']],
    ['gpucloud instances -- li', ['list']],
    ['gpucloud instances ssh x ls -', []],
    ['gpucloud run -- python --', []],
    ['gpucloud "instances" \'list\' --js', ['--json']],
    ['gpucloud  instances\tl', ['list']],
    ['/usr/bin/gpucloud inst', ['instances']],
    ['g inst', ['instances']],
  ])('completes the command line %j', async (line, words) => {
    expect((await offered(line)).sort()).toEqual([...words].sort());
  });

  test.each([
    ['gpucloud ssh-keys add a', 'f'],
    ['gpucloud instances create -f b', 'f'],
    ['gpucloud instances create --env-file=b', 'f'],
    ['gpucloud run --sync ', 'f'],
    ['gpucloud run --report ', 'f'],
    ['gpucloud run --setup-file ', 'f'],
    ['gpucloud jobs attach --report ', 'f'],
    ['gpucloud instances scp a', 'f'],
    ['gpucloud instances scp trainer:a', '-'],
    ['gpucloud instances scp ./a:b', 'f'],
    ['gpucloud drives list --columns n', '-nc'],
    ['gpucloud drives list', '-'],
  ])('leaves files to the shell, and says what follows a value: %j', async (line, marks) => {
    const { stdout } = await world.cli(['__complete', 'bash', line, '']);
    expect(stdout.split('\n')[0]).toBe(marks);
  });

  test('describes commands and flags in zsh and fish', async () => {
    await world.cli(['__complete', 'zsh', 'instances', 'st']);
    await world.cli(['__complete', 'zsh', '--']);
    const fish = await world.cli(['__complete', 'fish', 'drives', 'list', '--columns=name,']);
    expect(fish.stdout).toMatch(/^-nc --columns=name,\n--columns=name,id\n/);
  });
});

describe('profiles', () => {
  // Stores an instance in the journal of each service, named after it.
  beforeEach(async () => {
    await put('config/config.json', {
      current: 'sandbox',
      profiles: {
        office: { base_url: 'https://office.example', api_key: 'x' },
        home: { base_url: 'https://home.example' },
      },
    });
    await put('state/sandbox.json', { account: { id: 'me' } });
    for (const [service, account, name] of [
      ['@sandbox', 'me', 'insandbox'],
      ['@sandbox', 'before-reset', 'old'],
      ['office.example', 'a', 'inoffice'],
      ['home.example', 'a', 'inhome'],
      ['http@127.0.0.1%3a1', 'a', 'inenv'],
    ]) {
      const id = `id-${name}`;
      const record = { version: 1, id, name, origin: 'create', known_at: '', request: null };
      await put(`state/journal/${service}/${account}/instances/${id}.json`, record);
    }
  });

  const KEY = { GPUCLOUD_API_KEY: 'svc_sk_x' };
  const URL = { GPUCLOUD_BASE_URL: 'http://127.0.0.1:1' };

  test.each<[string, Env, string, string[]]>([
    ['--profile', { GPUCLOUD_PROFILE: 'home' }, '--profile office ', ['inoffice']],
    ['--profile=', { GPUCLOUD_PROFILE: 'home' }, '--profile=office ', ['inoffice']],
    ['GPUCLOUD_PROFILE', { GPUCLOUD_PROFILE: 'home' }, '', ['inhome']],
    ['the current profile', {}, '', ['insandbox']],
    ['a key in the environment', { ...KEY, GPUCLOUD_PROFILE: 'office' }, '', ['inoffice']],
    ['a base URL in the environment', { ...URL }, '', ['inenv']],
    ['a base URL on the command line', {}, '--base-url http://127.0.0.1:1 ', ['inenv']],
    ['only a key in the environment', KEY, '', ['insandbox']],
    ['--profile sandbox', { ...KEY, ...URL }, '--profile sandbox ', ['insandbox']],
    ['a path as profile', {}, '--profile ../names/office ', []],
    ['a missing profile', {}, '--profile nobody ', []],
  ])('offers the names of the selected profile: %s', async (_case, env, flags, names) => {
    expect(await offered(`gpucloud ${flags}instances stop `, env)).toEqual(names);
  });

  test('completes profile names', async () => {
    expect(await offered('gpucloud --profile ')).toEqual(['home', 'office', 'sandbox']);
    expect(await offered('gpucloud profiles use o')).toEqual(['office']);
    const profiles = ['__complete', 'zsh', '--profile', ''];
    expect((await world.cli(profiles)).stdout).toContain('\nsandbox:active\n');
    const env = { GPUCLOUD_PROFILE: 'home' };
    expect((await world.cli(profiles, { env })).stdout).toContain('\nhome:active\n');
  });

  test('does not offer a hostile profile name from an edited config', async () => {
    const profiles = Object.fromEntries(HOSTILE.map((name) => [name, { base_url: 'https://x' }]));
    await put('config/config.json', { profiles: { ...profiles, good: { base_url: 'https://x' } } });
    expect(await offered('gpucloud profiles use ')).toEqual(['good', 'sandbox']);
  });

  test('completes instances that have a job for jobs', async () => {
    const env = { GPUCLOUD_STATE_DIR: join(world.home, 'state') };
    await putJob({ ...env, GPUCLOUD_CONFIG_DIR: '' }, { id: 'id-insandbox', name: 'insandbox' });
    await putJob({ ...env, GPUCLOUD_CONFIG_DIR: '' }, { id: 'id-inoffice', name: 'inoffice' });
    expect(await offered('gpucloud jobs logs ')).toEqual(['insandbox']);
    expect(await offered('gpucloud --profile office jobs logs ')).toEqual(['inoffice']);
  });

  test('does not offer an argument again', async () => {
    expect(await offered('gpucloud instances stop insandbox ')).toEqual([]);
  });

  test('completes an instance before the colon of a path, and nothing after it', async () => {
    expect(await offered('gpucloud instances scp x in')).toEqual(['insandbox:']);
    expect(await offered('gpucloud instances scp x insandbox:in')).toEqual([]);
  });
});

describe('a Tab', () => {
  async function filesBelow(folder: string): Promise<string[]> {
    const names = await readdir(folder, { recursive: true });
    const files = names.map(async (name) => {
      const found = await stat(join(folder, name));
      return `${name} ${found.mtimeMs} ${found.isFile() ? await readFile(join(folder, name)) : ''}`;
    });
    return (await Promise.all(files)).sort();
  }

  test('sends nothing, runs no key command and writes no file', async () => {
    const hit = join(world.home, 'hit');
    const profile = { base_url: world.service.url, key_command: ['/usr/bin/touch', hit] };
    await put('config/config.json', { current: 'own', profiles: { own: profile } });
    // A read of the journal would complete this request.
    await put('state/journal/@sandbox/me/requests/box.json', '{"version":1}');
    const before = await filesBelow(world.home);
    for (const line of [
      'instances stop ',
      'drives get ',
      'ssh-keys delete ',
      'instances create --offer ',
    ]) {
      expect(await offered(`gpucloud ${line}`)).toEqual([]);
    }
    expect(await filesBelow(world.home)).toEqual(before);
    expect(world.service.requests).toEqual([]);
  });

  const NAMES = 'gpucloud instances stop ';
  test.each<[string, Record<string, string>, Env]>([
    ['a broken config', { 'config/config.json': '{' }, {}],
    ['a config with other types', { 'config/config.json': '{"current":1,"profiles":{"a":3}}' }, {}],
    ['a config that is null', { 'config/config.json': 'null' }, {}],
    ['a folder as config', { 'config/config.json/x': '' }, {}],
    ['a relative state folder', {}, { GPUCLOUD_STATE_DIR: 'x', GPUCLOUD_PROFILE: 'sandbox' }],
    ['an invalid base URL', {}, { GPUCLOUD_BASE_URL: 'ftp://x' }],
    ['broken sandbox state', { 'state/sandbox.json': '[' }, { GPUCLOUD_PROFILE: 'sandbox' }],
  ])('offers no names and prints no error with %s', async (_case, files, env) => {
    for (const [path, text] of Object.entries(files)) await put(path, text);
    expect(await offered(NAMES, env)).toEqual([]);
    expect(await offered('gpucloud inst', env)).toEqual(['instances']);
  });

  test("offers only the key's instances if a service has several accounts", async () => {
    const folder = 'state/journal/api.example.com';
    await put(`${folder}/me/instances/a.json`, { id: 'a', name: 'mine' });
    await put(`${folder}/other/instances/b.json`, { id: 'b', name: 'theirs' });
    const scope = { service: 'https://api.example.com', apiKey: 'svc_sk_mine' };
    await journalOf(world, scope).learnAccount('me');
    const env = { GPUCLOUD_BASE_URL: scope.service, GPUCLOUD_API_KEY: scope.apiKey };
    expect(await offered(NAMES, env)).toEqual(['mine']);
  });

  test('skips a journal file that is damaged, and offers the others', async () => {
    const folder = 'state/journal/api.example.com/me/instances';
    await put(`${folder}/a.json`, '{"id":');
    await put(`${folder}/b.json`, 'null');
    await put(`${folder}/c.json`, '{"id":"c","name":7}');
    await put(`${folder}/d.json`, '{"id":"d","name":"good"}');
    const env = { GPUCLOUD_BASE_URL: 'https://api.example.com' };
    expect(await offered(NAMES, env)).toEqual(['good']);
  });

  test.each([
    [[]],
    [['tcsh']],
    [['bash']],
    [['zsh']],
    [['fish']],
    [['powershell']],
    [['powershell', '']],
  ])('exits with 0 for the arguments %j', async (given) => {
    const result = await world.cli(['__complete', ...given]);
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  test('is not listed, and not completed', async () => {
    expect((await world.cli(['--help'])).stdout).not.toContain('__complete');
    expect((await world.cli(['commands', '--json'])).stdout).not.toContain('__complete');
    expect(await offered('gpucloud __')).toEqual([]);
  });
});
