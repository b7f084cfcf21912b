import { afterEach, describe, expect, test } from 'vitest';
import { asResult, messagesIn, resultOf } from '../../src/mcp/result.ts';
import { createSandboxWorld, type SandboxWorld } from '../support/run-cli.ts';
import { openAgent, waitingClock } from './agent.ts';

describe('a result', () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, id) => ({ id, text: 'x'.repeat(90) }));

  test('stays whole up to 100,000 characters', () => {
    const content = { output: 'x'.repeat(100_000 - JSON.stringify({ output: '' }).length) };
    expect(asResult(content, false)).toEqual({
      content: [{ type: 'text', text: JSON.stringify(content) }],
      structuredContent: content,
      isError: false,
    });
  });

  test.each(['result', 'selected'])('keeps the first rows of a large %s', (field) => {
    const { structuredContent, content } = asResult({ [field]: rows(5_000) }, false);
    const shown = Object(structuredContent);
    expect(shown[field]).toEqual(rows(shown[field].length));
    expect(shown.cut).toBe(
      `Only ${shown[field].length} of 5000 rows. Use query or columns, or a limit, to get less.`,
    );
    const { text }: { text: string } = Object(content[0]);
    expect(text.length).toBeGreaterThan(90_000);
    expect(text.length).toBeLessThanOrEqual(100_000);
  });

  test.each([
    [true, {}, '{"a":1}', { output: '{"a":1}' }],
    [true, { dry_run: false, detach: false }, '{"a":1}', { output: '{"a":1}' }],
    [true, { dry_run: true }, '{"a":1}', { result: { a: 1 } }],
    [true, { detach: true }, '{"a":1}', { result: { a: 1 } }],
    [false, {}, 'svc_sk_live_0123456789', { output: 'svc_sk_…' }],
    [false, {}, '', {}],
    [false, { query: 'a' }, '1', { selected: 1 }],
    [false, { columns: ['a'] }, '1', { selected: 1 }],
  ])(
    'of a command that passes on output (%s), called with %j',
    (passesOn, given, stdout, shown) => {
      const ran = { code: 7, stdout, stderr: 'lost' };
      const { structuredContent, isError } = resultOf({ passesOn }, given, ran, { spent: '1' });
      const content = { ...shown, exit_code: 7, stderr: 'lost', purse: { spent: '1' } };
      expect({ structuredContent, isError }).toEqual({ structuredContent: content, isError: true });
    },
  );

  test('leaves out a large object', () => {
    expect(asResult({ result: { readme: 'x'.repeat(200_000) }, exit_code: 1 }, true)).toMatchObject(
      {
        structuredContent: {
          exit_code: 1,
          cut: 'The result is too large. Use query or columns, or a limit, to get less.',
        },
        isError: true,
      },
    );
  });

  test('keeps the end of a large output, in any characters', () => {
    for (const unit of ['x', '\u0000', '€', '😀']) {
      const output = `${unit.repeat(100_000)}end`;
      const { structuredContent, content } = asResult({ output, stderr: `${output}!` }, false);
      const end = output.slice(-6_666);
      expect(structuredContent).toEqual({
        ...{ output: end, stderr: `${end}!`.slice(1), cut: 'Only the last 6666 characters.' },
      });
      const { text }: { text: string } = Object(content[0]);
      expect(text.length).toBeLessThanOrEqual(100_000);
    }
  });
});

test("separates gpucloud's lines from those of a program", () => {
  const lines = [
    '{"warning":{"code":"price","message":"dear"}}',
    'loss 0.5 svc_sk_live_0123456789',
    '{"loss": 0.4}',
    '{"run":{"exit_code":3}}',
    '{"error":{"code":"usage","message":"no"}}',
    '',
  ];
  expect(messagesIn(lines.join('\n'))).toEqual({
    warnings: [{ code: 'price', message: 'dear' }],
    report: { exit_code: 3 },
    error: { code: 'usage', message: 'no' },
    stderr: 'loss 0.5 svc_sk_…\n{"loss": 0.4}',
  });
});

describe('a long call', () => {
  let world: SandboxWorld | undefined;
  afterEach(() => world?.close());

  test('sends progress until it ends', async () => {
    const clock = waitingClock();
    let respond = () => {};
    const responding = new Promise<void>((resolve) => {
      respond = resolve;
    });
    world = await createSandboxWorld(
      (handler) => async (request) => {
        if (request.path.startsWith('/ssh-keys')) await responding;
        return handler(request);
      },
      clock,
    );
    const flags = ['--timeout', '90s', '--base-url', world.service.url];
    const agent = await openAgent(world, flags);
    const seen: (string | undefined)[] = [];
    const onprogress = ({ message }: { message?: string | undefined }) => seen.push(message);
    const call = agent.client.callTool({ name: 'ssh_keys_list' }, undefined, { onprogress });
    const tick = async (messages: string[]) => {
      clock.advance(5_000);
      await expect.poll(() => seen, { timeout: 20_000 }).toEqual(messages);
    };
    await expect.poll(() => world?.service.requests.length, { timeout: 20_000 }).toBe(1);
    await tick(['5 s']);
    await tick(['5 s', '10 s']);
    respond();
    expect(await call).toMatchObject({ structuredContent: { result: [] } });
    expect(await agent.end()).toMatchObject({ code: 0 });
  });
});
