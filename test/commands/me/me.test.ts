import { describe, expect, it } from 'vitest';
import { setPassword, update } from '../../../src/commands/me/index.ts';
import { atTerminal } from '../../support/at-terminal.ts';
import { createSandboxWorld, createWorld } from '../../support/run-cli.ts';
import { type Answer, ok, sent } from '../../support/service.ts';

const worldOf = (answer: Answer | 'hangUp') => createWorld({ handler: () => answer });

const USER = {
  id: 'u-1',
  role: 'USER',
  name: 'Ann',
  email: 'ann@example.com',
  yandex_id: 'y-1',
  github_id: null,
  balance: '1500.00',
  is_active: true,
  is_email_verified: false,
  has_password: true,
  notify_billing: true,
  notify_marketing: false,
  verified_at: '2026-01-01T00:00:00.000Z',
  last_login_at: '2026-01-02T00:00:00.000Z',
  created_at: '2025-12-31T00:00:00.000Z',
  updated_at: '2026-01-03T00:00:00.000Z',
};

describe('me get', () => {
  it("prints the account's details", async () => {
    const world = await worldOf(ok(USER));
    const { code, stderr, requests } = await world.cli(['me', 'get']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(sent(requests)).toEqual(['GET /users/me']);
  });
});

describe('me update', () => {
  it('changes the name, and prints the reserved funds', async () => {
    const world = await createSandboxWorld();
    const { stderr, requests } = await world.cli([...['me', 'update', '--name', 'Ann Lee']]);
    expect(stderr).toBe('Account name changed to Ann Lee.\n');
    expect(requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['PATCH', '/users/me', { name: 'Ann Lee' }],
    ]);
    expect(JSON.parse((await world.cli(['me', 'get', '--json'])).stdout)).toMatchObject({
      name: 'Ann Lee',
    });
  });

  it('names the new name if the response has none', async () => {
    const world = await worldOf(ok({ ...USER, name: null }));
    const { stderr } = await world.cli(['me', 'update', '--name', 'Ann Lee']);
    expect(stderr).toBe('Account name changed to Ann Lee.\n');
  });

  it('asks for the name in a terminal', async () => {
    const world = await createSandboxWorld();
    const person = atTerminal(world, [' ', 'Ann']);
    await update(undefined, person.context);
    await person.context.close();
    expect(person.said).toEqual(['New name?', '> must not be empty']);
    expect(person.stderr()).toBe('Account name changed to Ann.\n');
  });

  it.each([
    [[], 'nothing to change: add --name'],
    [['--name', ''], '--name "": must not be empty'],
    [['--name', 'a', 'b'], 'too many arguments'],
    [['--email', 'a@b.c'], "unknown option '--email'"],
    [['--name', 'a', '--columns', 'x'], "--columns: unknown column 'x'"],
  ])('rejects me update %j before any request', async (given, words) => {
    const world = await worldOf('hangUp');
    const { stderr, requests } = await world.cli(['me', 'update', ...given]);
    expect(stderr).toContain(words);
    expect(requests).toEqual([]);
  });
});

const OLD = 'sandbox-password';
const NEW = ' Tr0ub4dor & 3 ';

describe('me set-password', () => {
  it('reads two lines from stdin, including spaces', async () => {
    const world = await createSandboxWorld();
    const { stderr, requests } = await world.cli(['me', 'set-password', '--stdin'], {
      stdin: `${OLD}\n${NEW}\n`,
    });
    expect(stderr).toBe('Password changed.\n');
    expect(requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/users/me/update-password', { current_password: OLD, new_password: NEW }],
    ]);
    await world.cli(['me', 'set-password', '--stdin'], { stdin: `${NEW}\r\n${OLD}` });
  });

  it('prompts for the current password, and twice for the new one', async () => {
    const world = await createSandboxWorld();
    const person = atTerminal(world, ['', OLD, NEW, 'other', NEW]);
    await setPassword(false, person.context);
    await person.context.close();
    expect(person.said).toEqual([
      'Current password?',
      '> must not be empty',
      'New password?',
      'Confirm the new password?',
      '> the passwords do not match',
    ]);
    expect(world.service.requests.map(({ body }) => body)).toEqual([
      { current_password: OLD, new_password: NEW },
    ]);
  });

  it.each([['json'], ['table'], ['yaml']])(
    'masks both passwords in %s output and in the trace',
    async (format) => {
      const world = await createWorld({
        handler: ({ body }) => ok({ ...USER, ...(body as object), name: `new: ${NEW}` }),
      });
      const { stdout, stderr } = await world.cli(
        ['me', 'set-password', '--stdin', '--debug', '-o', format],
        { stdin: `${OLD}\n${NEW}\n` },
      );
      expect(stdout + stderr).toContain('update-password');
      expect(stdout + stderr).not.toContain(OLD);
      expect(stdout + stderr).not.toContain(NEW.trim());
    },
  );

  it.each([
    [['hunter2']],
    [['hunter2', 'hunter2-new']],
    [['--password', 'hunter2']],
    [['--new-password=hunter2']],
    [['-phunter2']],
    [['--stdin', 'hunter2', '--json']],
    [['--', '-hunter2']],
  ])('rejects set-password %j without repeating it', async (given) => {
    const world = await worldOf('hangUp');
    const { stdout, stderr, requests } = await world.cli(['me', 'set-password', ...given], {
      stdin: `${OLD}\n${NEW}\n`,
    });
    expect(stdout).toBe('');
    expect(stderr).not.toContain('hunter2');
    expect(requests).toEqual([]);
  });

  it('rejects --stdin=hunter2 without repeating it', async () => {
    const world = await worldOf('hangUp');
    const { stderr, requests } = await world.cli(['me', 'set-password', '--stdin=hunter2']);
    expect(stderr).toBe('error: --stdin takes no value\n');
    expect(requests).toEqual([]);
  });

  it.each([
    ['', '--stdin: must be two lines'],
    [`${OLD}\n`, '--stdin: must be two lines'],
    [`${OLD}\n${NEW}\n${NEW}\n`, '--stdin: must be two lines'],
    [`\n${NEW}\n`, '--stdin: must not be empty'],
    [`${OLD}\n  \n`, '--stdin: must not be empty'],
  ])('rejects %j on stdin without repeating it', async (stdin, words) => {
    const world = await worldOf('hangUp');
    const { stderr, requests } = await world.cli(['me', 'set-password', '--stdin'], {
      stdin,
    });
    expect(stderr).toContain(words);
    expect(stderr).not.toContain(OLD);
    expect(requests).toEqual([]);
  });

  it('requires --stdin when not interactive, and rejects it in a terminal', async () => {
    const world = await worldOf('hangUp');
    const piped = await world.cli(['me', 'set-password']);
    expect(piped).toMatchObject({ code: 2, requests: [] });
    const typed = await world.cli(['me', 'set-password', '--stdin'], {
      terminal: true,
      columns: 300,
    });
    expect(typed).toMatchObject({ code: 2, requests: [] });
    expect(typed.stderr).toContain('omit the flag to be prompted');
  });
});
