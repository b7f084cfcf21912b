import { readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { beforeEach, expect, test } from 'vitest';
import { referenceOf } from '../../src/command-line/reference/index.ts';
import { toolsIn } from '../../src/mcp/tools.ts';
import { tree } from '../contract/tree.ts';
import { needs } from '../support/needs.ts';
import { type Computer, createComputer, PROGRAM, RUNNER } from '../support/program.ts';
import { IMAGE, OFFER } from '../support/sandbox-ids.ts';
import { makeKey } from '../support/sshd.ts';

const SANDBOX = ['--profile', 'sandbox'];
const BUDGET = ['--allow', 'all', '--max-cost', '1000', '--for', '4h', '--unenforced'];

let computer: Computer;
beforeEach(async () => {
  computer = await createComputer();
});

/** Starts the built program as agents do, and connects the SDK's client. */
async function connect(...flags: string[]) {
  const transport = new StdioClientTransport({
    command: RUNNER,
    args: [PROGRAM, ...SANDBOX, 'mcp', ...flags],
    cwd: computer.home,
    env: { ...computer.env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0 };
}

async function rent(client: Client, name: string) {
  const given = { name, offer: [OFFER], image: IMAGE, terminate_after: '50m' };
  const { structuredContent, isError } = await client.callTool({
    name: 'instances_create',
    arguments: given,
  });
  expect(isError, JSON.stringify(structuredContent)).toBe(false);
}

async function statuses(): Promise<Record<string, string>> {
  const { stdout } = await computer.gpucloud([...SANDBOX, 'instances', 'list', '--all', '--json']);
  const rows: { name: string; status: string }[] = JSON.parse(stdout);
  return Object.fromEntries(rows.map(({ name, status }) => [name, status]));
}

test('lists the tools of this source, which the build has packed', async () => {
  const { client } = await connect(...BUDGET);
  const { tools } = await client.listTools();
  await client.close();
  const made = toolsIn(referenceOf(tree)).map(({ definition }) => definition);
  expect(tools).toEqual(JSON.parse(JSON.stringify(made)));
});

test('serves the pages of docs/', async () => {
  const { client } = await connect();
  const { resources } = await client.listResources();
  const page = { uri: 'gpucloud://docs/run', name: 'run', description: 'Run a job' };
  expect(resources).toContainEqual({ ...page, mimeType: 'text/markdown' });
  const docs = new URL('../../docs/', import.meta.url);
  const names = readdirSync(docs)
    .filter((name) => name.endsWith('.md'))
    .sort();
  expect(resources.map(({ uri }) => uri)).toEqual([
    'gpucloud://catalog',
    ...names
      .filter((name) => name !== 'README.md' && name !== 'architecture.md')
      .map((name) => `gpucloud://docs/${name.replace('.md', '')}`),
  ]);
  const { contents } = await client.readResource({ uri: page.uri });
  const text = readFileSync(new URL('run.md', docs), 'utf8');
  expect(contents).toEqual([{ uri: page.uri, mimeType: 'text/markdown', text }]);
  await client.close();
});

test('stops a query after a second', async () => {
  const { client } = await connect(...BUDGET);
  await rent(client, 'one');
  const query = `@${'|[@,@][]'.repeat(30)}`;
  const given = { name: 'instances_list', arguments: { query } };
  const { structuredContent } = await client.callTool(given);
  expect(Object(structuredContent).error.message).toMatch(/: it takes longer than 1 s$/);
  await client.close();
});

test('terminates on SIGTERM, with 143', async () => {
  const child = computer.start([...SANDBOX, 'mcp', ...BUDGET]);
  const lines: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => lines.push(text));
  const send = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  const given = { name: 'one', offer: [OFFER], image: IMAGE, terminate_after: '50m' };
  send({ id: 2, method: 'tools/call', params: { name: 'instances_create', arguments: given } });
  await expect.poll(() => lines.join(''), { timeout: 20_000 }).toContain('"id":2');
  child.kill('SIGTERM');
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect(code).toBe(143);
  expect((await statuses()).one).toMatch(/^TERMINAT/);
  // stdout holds messages only.
  for (const line of lines.join('').trim().split('\n')) {
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  }
});

test('copies the results of a detached job at the end', needs('ssh'), async () => {
  await mkdir(join(computer.home, '.ssh'), { mode: 0o700 });
  const key = makeKey(join(computer.home, '.ssh'), 'id_ed25519');
  await computer.gpucloud([...SANDBOX, 'sandbox', 'reset', '--speed', '60', '--yes']);
  await computer.gpucloud([...SANDBOX, 'ssh-keys', 'add', `${key}.pub`, '--default']);
  // The SDK's client would send SIGTERM 2 s after it closed stdin.
  const child = computer.start([...SANDBOX, 'mcp', ...BUDGET]);
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  const given = {
    ...{ name: 'train', offer: [OFFER], image: IMAGE, max_price: '90', terminate_after: '2h' },
    ...{ fetch: ['out'], detach: true, command: ['sh', '-c', 'echo done > out'] },
  };
  const params = { name: 'run', arguments: given };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  child.stdin.write(`${JSON.stringify(call)}\n`);
  await expect.poll(() => written, { timeout: 20_000 }).toContain('"id":1');
  expect(written).toContain('"isError":false');
  child.stdin.end();
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  expect(await statuses()).toEqual({ train: expect.stringMatching(/^TERMINAT/) });
  expect(readFileSync(join(computer.home, 'out'), 'utf8')).toBe('done\n');
});

test('ends after --for although the client reads nothing', async () => {
  const child = computer.start([
    ...SANDBOX,
    ...['mcp', '--allow', 'all', '--max-cost', '1000', '--for', '4s', '--unenforced'],
  ]);
  const send = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const given = { name: 'one', offer: [OFFER], image: IMAGE };
  send({ id: 0, method: 'tools/call', params: { name: 'instances_create', arguments: given } });
  // More than a pipe and the streams of both sides hold.
  for (let id = 1; id < 40; id += 1) send({ id, method: 'tools/list' });
  const code = await new Promise((resolve) => child.on('exit', resolve));
  expect(code).toBe(0);
  // A slow computer may not rent before the end.
  for (const status of Object.values(await statuses())) expect(status).toMatch(/^TERMINAT/);
});

test('ends and terminates after the client has closed stdout alone', async () => {
  const child = computer.start([...SANDBOX, 'mcp', ...BUDGET]);
  const lines: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => lines.push(text));
  const send = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const given = { name: 'one', offer: [OFFER], image: IMAGE, terminate_after: '50m' };
  send({ id: 1, method: 'tools/call', params: { name: 'instances_create', arguments: given } });
  await expect.poll(() => lines.join(''), { timeout: 20_000 }).toContain('"id":1');
  child.stdout.destroy();
  send({ id: 2, method: 'tools/list' });
  expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(0);
  expect((await statuses()).one).toMatch(/^TERMINAT/);
});

test('leaves the deadlines of a killed server to reap', async () => {
  const { client, pid } = await connect(...BUDGET);
  await rent(client, 'one');
  process.kill(pid, 'SIGKILL');
  expect((await statuses()).one).not.toMatch(/^TERMINAT/);
  await computer.gpucloud([...SANDBOX, 'sandbox', 'advance', '1h']);
  const reaped = await computer.gpucloud([...SANDBOX, 'instances', 'reap', '--json']);
  expect(JSON.parse(reaped.stdout)).toMatchObject([{ name: 'one', reason: 'deadline' }]);
  expect((await statuses()).one).toMatch(/^TERMINAT/);
});

test('writes no key to the agent', async () => {
  const child = computer.start([...SANDBOX, '--debug', 'mcp']);
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
  }
  const send = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  const names = ['status', 'me_get', 'doctor', 'api_keys_list', 'instances_list', 'audit'];
  for (const [at, name] of names.entries()) {
    send({ id: at + 2, method: 'tools/call', params: { name, arguments: {} } });
  }
  for (const at of names.keys()) {
    await expect.poll(() => written, { timeout: 20_000 }).toContain(`"id":${at + 2}`);
  }
  child.stdin.end();
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  const state = readFileSync(join(computer.home, 'state', 'sandbox.json'), 'utf8');
  const keys = [...state.matchAll(/svc_sk_[A-Za-z0-9_-]+/g)].map(([key]) => key);
  expect(keys.length).toBeGreaterThan(0);
  for (const key of keys) expect(written).not.toContain(key);
});
