import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { apiPath, segmentsOf } from '../../../src/commands/api/request.ts';
import { fc, runs } from '../../support/random.ts';
import {
  createSandboxWorld,
  createWorld,
  type SandboxWorld,
  TEST_KEY,
  type World,
} from '../../support/run-cli.ts';
import { type Answer, envelope, type Handler, sent } from '../../support/service.ts';

test('names a key without an ID, and suggests a request without --query only if it can be repeated', async () => {
  const key = { secret_key: 'svc_sk_live_abcdef0123456789' };
  const world = await createWorld({
    handler: ({ path, body }) => ({
      status: JSON.stringify(body)?.includes('bad') ? 422 : 201,
      body:
        path === '/api-keys'
          ? { data: JSON.stringify(body)?.includes('named') ? { id: 'key-1', ...key } : key }
          : 'text',
    }),
  });
  for (const method of ['GET', 'POST']) {
    expect((await world.cli(['api', method, '/jobs', '--query', 'a'])).code).toBe(10);
  }
  const create = ['api', 'POST', '/api-keys', '-f', 'name=ci', '--show-secrets'];
  expect((await world.cli(create, { isStdoutFull: true })).code).toBe(9);
  await world.cli([...create.with(4, 'name=bad')], { isStdoutFull: true });
  await world.cli([...create.with(4, 'name=named')], { isStdoutFull: true });
});

describe('in the sandbox', () => {
  let world: SandboxWorld;
  beforeEach(async () => {
    world = await createSandboxWorld();
  });

  test('prints the whole response to a GET', async () => {
    const result = await world.cli(['api', 'GET', '/users/me'], { terminal: true });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const json = await world.cli(['api', 'GET', '/users/me', '--json']);
    expect(json.stdout).toBe(result.stdout);
    expect(JSON.parse(result.stdout)).toMatchObject(
      envelope({ email: expect.any(String), balance: expect.any(String) }),
    );
    expect(result.stdout.startsWith('{\n  "status": "success",\n')).toBe(true);
    const line = await world.cli(['api', 'get', '/users/me', '-o', 'jsonl']);
    expect(line.stdout.trim().split('\n')).toHaveLength(1);
  });

  test('merges all pages into one list with --paginate', async () => {
    const drives = ['a', 'b', 'c', 'd'];
    for (const name of drives) {
      await world.cli(['api', 'POST', '/storage/drives', '-f', `name=${name}`, '-F', 'size_gb=9']);
    }
    await world.sandbox.advance(3 * 3_600_000);
    const argv = ['api', 'GET', '/billing/transactions?type=USAGE_CHARGE', '-f', 'limit=5'];
    const all = await world.cli([...argv, '--paginate']);
    const rows: { id: string }[] = JSON.parse(all.stdout);
    expect(sent(all.requests).slice(0, 2)).toEqual([
      'GET /billing/transactions?type=USAGE_CHARGE&limit=5',
      'GET /billing/transactions?type=USAGE_CHARGE&limit=5&page=2',
    ]);
    expect(all.requests).toHaveLength(Math.ceil(rows.length / 5));
    expect(rows.length).toBeGreaterThan(5);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);

    const count = await world.cli([...argv, '--paginate', '--query', 'length(@)']);
    expect(count).toMatchObject({ code: 0, stdout: `${rows.length}\n`, stderr: '' });
    await world.cli([...argv, '--paginate', '-o', 'jsonl']);
    const templates = await world.cli(['api', 'GET', '/templates', '--paginate']);
    expect(sent(templates.requests)).toEqual(['GET /templates']);
    expect(JSON.parse(templates.stdout).length).toBeGreaterThan(0);
  });

  test('prints the body of a failure to stdout and the error to stderr', async () => {
    const missing = await world.cli(['api', 'GET', '/storage/drives/none']);
    expect(JSON.parse(missing.stdout)).toMatchObject({ statusCode: 404 });
    const env = { GPUCLOUD_API_KEY: 'svc_sk_wrong' };
    await world.cli(['--json', 'api', 'GET', '/users/me'], { env });
  });

  test('shows the secret of a new key only on request', async () => {
    const argv = ['api', 'POST', '/api-keys', '-f', 'name=ci'];
    const masked = await world.cli(argv);
    expect(masked).toMatchObject({ code: 2, stdout: '', requests: [] });
    const shown = await world.cli([...argv, '--show-secrets']);
    expect(JSON.parse(shown.stdout).data.secret_key).toMatch(/^svc_sk_/);
  });

  test('rejects each path that rents an instance', async () => {
    for (const path of [
      '/instances',
      '/instances/',
      '/Instances?x=1',
      '/%69nstances',
      '/v1//instances',
      '/instances/abcd/reorder',
      '/instances/abcd//reorder/?a=/x',
      '/instances/abcd/%72eorder',
    ]) {
      const result = await world.cli(['api', 'POST', path, '-f', 'new_name=a']);
      expect(result, path).toMatchObject({ code: 2, stdout: '', requests: [] });
      expect(result.stderr).toMatch(/gpucloud instances (create|reorder)/);
    }
  });
});

test('adds a missing slash to the path', async () => {
  const world = await createWorld({
    handler: () => ({ status: 200, body: { status: 'success', code: 200, data: {} } }),
  });
  for (const path of ['users/me', 'users/me?a=b', 'drives']) {
    const { requests } = await world.cli(['api', 'GET', path, '--json']);
    expect(requests.map((request) => request.path)).toEqual([`/${path}`]);
  }
});

describe('api with bad input', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld({ handler: () => ({ status: 500 }) });
    await writeFile(join(world.home, 'broken.json'), '{"a":');
  });

  test.each([
    [['GET'], 'missing argument: path'],
    [['TRACE', '/x'], 'METHOD "TRACE": must be one of GET, HEAD, POST, PUT, PATCH, DELETE'],
    [['/users/me', '/x'], 'METHOD "/users/me": must be one of'],
    [
      ['GET', 'users me'],
      'PATH "users me": must be a path below the base URL in percent-encoded ASCII, such as /users/me',
    ],
    [
      ['GET', 'C:/Program Files/Git/users/me'],
      'PATH "C:/Program Files/Git/users/me": must not be a Windows path. Git Bash replaces a slash at the start: leave it out, as in users/me',
    ],
    [['GET', '..'], 'below the base URL'],
    [['GET', 'users/../x'], 'must not be "." or ".."'],
    [['GET', 'evil.example/x'], 'below the base URL'],
    [['GET', 'https://evil.example/x'], 'below the base URL'],
    [['GET', 'evil:/x'], 'below the base URL'],
    [['GET', '//evil.example/x'], 'below the base URL'],
    [['GET', '/\\evil.example/x'], 'below the base URL'],
    [['GET', '/x#y'], 'below the base URL'],
    [['GET', '/a b'], 'percent-encoded'],
    [['GET', '/я'], 'percent-encoded'],
    [['GET', '/a\r\nx-a: b'], 'percent-encoded'],
    [['GET', '/a/../b'], 'must not be "." or ".."'],
    [['GET', '/a/..'], 'must not be "." or ".."'],
    [['GET', '/%2e%2E/b'], 'must not be "." or ".."'],
    [['GET', '/a/.%2e?x'], 'must not be "." or ".."'],
    [['GET', '/a%2f..%2fb'], 'or encode a slash'],
    [['GET', '/a%5cb'], 'or encode a slash'],
    [['GET', '/a%3fb'], 'or encode a slash'],
    [['GET', '/a%252e%252e/b'], 'or encode a slash'],
    [['GET', '/a%00'], 'or encode a slash'],
    [['GET', '/%ff'], 'a segment must not be'],
    [['GET', `/x/${TEST_KEY}`], 'this is an API key'],
    [['POST', '/x', '-f', 'a'], '--raw-field: must be NAME=VALUE'],
    [['POST', '/x', '-F', '=a'], '--field: must be NAME=VALUE'],
    [
      ['POST', '/x', '-f', 'a=1', '-F', 'a=2', '-F', 'b=1', '-F', 'b=2'],
      '--field "a" is set more than once',
    ],
    [['POST', '/x', '-f', 'a[b]=1'], '--raw-field "a[b]": flags can\'t build nested fields'],
    [['POST', '/x', '-f', `a=${TEST_KEY}`], 'this is an API key'],
    [['POST', '/x', '-f', 'new_password=hunter2'], '--raw-field "new_password": a secret'],
    [['POST', '/x', '-F', 'current_password=hunter2'], '--field "current_password": a secret'],
    [['POST', '/x', '-F', 'a=@/nowhere'], '--field "/nowhere": no such file'],
    [['POST', '/x', '-F', 'a=@-', '-F', 'b=@-'], 'only one --input or --field can read stdin'],
    [['POST', '/x', '-F', 'a=@-', '--input', '-'], 'only one --input or --field can read stdin'],
    [['POST', '/x', '--input', '/nowhere'], '--input "/nowhere": no such file'],
    [['POST', '/x', '--input', 'BROKEN'], 'it is not valid JSON'],
    [['POST', '/x', '--input', '-'], '--input "stdin": it is not valid JSON'],
    [['GET', '/x', '--input', '-'], '--input: a GET has no body'],
    [['POST', '/x', '--paginate'], '--paginate needs GET, not POST'],
    [['GET', '/x', '--paginate', '-i'], "'--paginate' cannot be used with option '-i, --include'"],
    [['GET', '/x?page=2', '--paginate'], '--paginate reads every page'],
    [['GET', '/x', '-f', 'page=2', '--paginate'], '--paginate reads every page'],
    [['GET', '/x', '-q'], '--output id: api prints the service'],
    [['GET', '/x', '-o', 'csv'], '--output csv: api prints the service'],
    [['GET', '/x', '--columns', 'a'], '--columns and --sort'],
    [['GET', '/x', '--sort', 'a'], '--columns and --sort'],
  ])('rejects api %j before any request', async (argv, message) => {
    const given = argv.map((text) => (text === 'BROKEN' ? join(world.home, 'broken.json') : text));
    const result = await world.cli(['api', ...given]);
    expect(result).toMatchObject({ code: 2, stdout: '', requests: [] });
    expect(result.stderr).toContain(message);
    expect(result.stderr).not.toMatch(/hunter2|svc_sk_test/);
  });

  test('accepts only paths below the base URL', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'/.%2eE5cCfF?#\\@:abя \n') }), (text) => {
        const verdict = apiPath(`/${text}`);
        if (!verdict.ok) return;
        const url = new URL(`https://host.example/v1${verdict.value}`);
        expect(url.href).toBe(`https://host.example/v1${verdict.value}`);
        expect(segmentsOf(verdict.value)).not.toContain('..');
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('against a scripted service', () => {
  let world: World;

  async function scripted(handler: Handler | Answer): Promise<void> {
    const own = typeof handler === 'function' ? handler : () => handler;
    world = await createWorld({ handler: own });
  }

  test('sends --field values as JSON types and --raw-field values as strings', async () => {
    let body = '';
    await scripted(({ body: got }) => {
      body = JSON.stringify(got);
      return { status: 200, body: '' };
    });
    const fields = [
      't=true',
      'f=false',
      'n=null',
      'i=-7',
      'd=0.10',
      's=07',
      'e=',
      'w=yes',
      'q=x=@-',
    ];
    await writeFile(join(world.home, 'text'), 'from a "file"\n');
    const argv = fields.flatMap((field) => ['-F', field]);
    const result = await world.cli(
      [
        ...['api', 'PUT', '/x', ...argv, '-f', 'r=true', '-f', '__proto__=p'],
        ...[
          '-F',
          `text=@${join(world.home, 'text')}`,
          '-F',
          'big=12345678901234567890',
          '-F',
          'in=@-',
        ],
      ],
      { stdin: 'stdin' },
    );
    expect(result).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(JSON.parse(body)).toEqual({
      ...{
        t: true,
        f: false,
        n: null,
        i: -7,
        d: 0.1,
        s: '07',
        e: '',
        w: 'yes',
        q: 'x=@-',
        r: 'true',
      },
      ...{
        ['__proto__']: 'p',
        text: 'from a "file"\n',
        big: Number('12345678901234567890'),
        in: 'stdin',
      },
    });
  });

  test('sends fields in the query with GET and with --input', async () => {
    await scripted({ status: 200, body: { data: 1 } });
    const got = await world.cli(['api', 'GET', '/x?a=1', '-f', 'b=c d&e', '-F', 'n=2']);
    expect(sent(got.requests)).toEqual(['GET /x?a=1&b=c%20d%26e&n=2']);
    const posted = await world.cli(
      ['api', 'POST', '/x', '-f', 'b=1', '--input', '-', '--no-input'],
      {
        stdin: '{"new_password":"correct horse"}',
      },
    );
    expect(sent(posted.requests)).toEqual(['POST /x?b=1']);
    expect(posted.requests[0]?.body).toEqual({ new_password: 'correct horse' });
    const stopped = await world.cli(['api', 'POST', '/instances/i1/stop']);
    expect(sent(stopped.requests)).toEqual(['POST /instances/i1/stop']);
  });

  test('prints a body to a pipe unchanged, and keeps all digits when reformatting', async () => {
    const body =
      '{"data":{"n":12345678901234567890,"m":1.10,"e":1E5,"s":"-1","k\\"":"a\\\\","z":[]}}';
    await scripted({ status: 200, body });
    await world.cli(['api', 'GET', '/x', '-o', 'jsonl']);
    expect((await world.cli(['api', 'GET', '/x'])).stdout).toBe(body);
    const indented = await world.cli(['api', 'GET', '/x'], { terminal: true });
    expect(indented.stdout).toContain('    "n": "12345678901234567890",\n    "m": 1.1,\n');
  });

  test('applies --query to the whole response, in each format', async () => {
    const body =
      '{"data":[{"amount":"1.50","n":3},{"amount":"2","n":12345678901234567890}],"meta":{"total":2}}';
    await scripted({ status: 200, body });
    const find = (query: string, ...more: string[]) =>
      world.cli(['api', 'GET', '/x', '--query', query, ...more]);
    expect(await find('data[0].amount')).toMatchObject({ code: 0, stdout: '"1.50"\n', stderr: '' });
    expect((await find('data[0].amount', '--json')).stdout).toBe('"1.50"\n');
    expect((await find('data[].amount', '-o', 'jsonl')).stdout).toBe('"1.50"\n"2"\n');
    expect((await find('data[].amount', '-o', 'tsv')).stdout).toBe('1.50\n2\n');
    expect((await find('data[].amount', '-o', 'yaml')).stdout).toBe('- "1.50"\n- "2"\n');
    expect((await find('data[?n > `2`].n')).stdout).toBe('[\n  3\n]\n');
    expect((await find('data[1].n')).stdout).toBe('"12345678901234567890"\n');
    expect((await find('nothing', '-i')).stdout).toMatch(/^HTTP\/1\.1 200\n[\s\S]*\n\nnull\n$/);
  });

  test('rejects a bad query before any request', async () => {
    await scripted({ status: 200, body: { data: 1 } });
    for (const argv of [
      ['api', 'GET', '/x', '--query', 'data['],
      ['api', 'GET', '/x', '--query', 'data', '-q'],
      ['api', 'HEAD', '/instances', '--query', 'data'],
    ]) {
      const result = await world.cli(argv);
      expect(result).toMatchObject({ code: 2, stdout: '', requests: [] });
    }
  });

  test('masks secrets and the key in the result of a query', async () => {
    const data = { metadata: { k: 'canary-meta' }, note: `echo ${TEST_KEY}` };
    await scripted({ status: 200, body: { data } });
    await world.cli(['api', 'GET', '/x', '--query', '[data.metadata.k, data.note]']);
    const shown = await world.cli([
      ...['api', 'GET', '/x', '--query', 'data.metadata.k', '--show-secrets'],
    ]);
    expect(shown.stdout).toBe('"canary-meta"\n');
  });

  test('ignores --query for a failed or empty response, and rejects it for text', async () => {
    await scripted({ status: 404, body: { statusCode: 404, message: 'why', error: 'x' } });
    await world.cli(['api', 'GET', '/x', '--query', 'data.id']);
    await scripted({ status: 204, body: '' });
    await world.cli(['api', 'DELETE', '/ssh-keys/k', '--query', 'data.id']);
    await scripted({ status: 200, body: 'a text' });
    const text = await world.cli(['api', 'GET', '/x', '--query', 'data.id']);
    expect(text).toMatchObject({ code: 10, stdout: '' });
  });

  test('removes control characters from a response in a terminal', async () => {
    await scripted({
      status: 200,
      body: '  line\u001b]52;c;x\u0007 one\r\ntwo \u202e\u009b2Jx \n',
    });
    await world.cli(['api', 'GET', '/x', '-i'], { terminal: true });
    const piped = await world.cli(['api', 'GET', '/x']);
    expect(piped.stdout).toBe('  line\u001b]52;c;x\u0007 one\r\ntwo \u202e\u009b2Jx \n');
    await scripted({ status: 200, body: '{"data":"\u009b2J\u202e\u007f"}' });
    await world.cli(['api', 'GET', '/x', '-o', 'jsonl'], { terminal: true });
  });

  test('masks secrets in documented fields, and the active key everywhere', async () => {
    const data = {
      id: 'i1',
      connection_info: { secrets: { TOKEN: 'canary-token' }, endpoints: ['x?t=canary-token'] },
      metadata: { k: 'canary-meta' },
      docker_config: { env: [{ key: 'A', value: 'canary-env' }] },
      note: `echo ${TEST_KEY}`,
      pin: 1,
    };
    await scripted({
      status: 200,
      headers: { 'set-cookie': 'canary-cookie', 'x-echo': TEST_KEY },
      body: { data },
    });
    const masked = await world.cli(['api', 'GET', '/instances/i1', '-i']);
    expect(masked.stdout).not.toMatch(/canary|svc_sk_test/);
    const listed = await world.cli(['api', 'GET', '/instances/i1', '--debug']);
    expect(listed.stdout + listed.stderr).not.toMatch(/canary|svc_sk_test/);
    const shown = await world.cli(['api', 'GET', '/instances/i1', '-i', '--show-secrets']);
    expect(shown.stdout).toContain('canary-cookie');
  });

  const KEY_BODY = { id: 'k1', secret_key: 'canary-key', metadata: { k: 'canary-meta' } };
  test.each([
    [200, KEY_BODY],
    [200, [KEY_BODY]],
    [409, KEY_BODY],
  ])('masks secrets in a body without an envelope: %i %j', async (status, body) => {
    await scripted({ status, body });
    const { stdout, stderr } = await world.cli(['api', 'GET', '/x']);
    expect(stdout + stderr).not.toContain('canary');
    const shown = await world.cli(['api', 'GET', '/x', '--show-secrets']);
    expect(JSON.parse(shown.stdout)).toEqual(body);
  });

  test('masks a password that the response repeats', async () => {
    await scripted({ status: 400, body: { message: 'new_password pa"ssw0rd is weak' } });
    const result = await world.cli(['api', 'POST', '/users/me/update-password', '--input', '-'], {
      stdin: '{"new_password":"pa\\"ssw0rd"}',
    });
    expect(result.stdout + result.stderr).not.toContain('ssw0rd');
  });

  test('ignores GPUCLOUD_OUTPUT in api', async () => {
    await scripted({ status: 200, body: { data: 1 } });
    const result = await world.cli(['api', 'GET', '/x'], { env: { GPUCLOUD_OUTPUT: 'csv' } });
    expect(result).toMatchObject({ code: 0, stdout: '{"data":1}' });
  });

  test('prints a string of 4 million characters', async () => {
    await scripted({ status: 200, body: { data: { readme: 'x\\'.repeat(2_000_000), n: 1 } } });
    const result = await world.cli(['api', 'GET', '/x']);
    expect(JSON.parse(result.stdout).data.readme).toHaveLength(4_000_000);
  });
});
