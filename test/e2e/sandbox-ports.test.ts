import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { freePort } from '../support/ports.ts';
import { heard, type Outcome } from '../support/program.ts';
import { OFFERED } from '../support/sandbox-ids.ts';
import { SANDBOX as env, type SandboxComputer, withSandboxComputer } from './sandbox-computer.ts';

let computer: SandboxComputer;
let own: readonly string[];
let done: SandboxComputer['done'];

describe('the ports of a sandbox instance', { timeout: 60_000, ...needs('ssh') }, () => {
  withSandboxComputer(async (created) => {
    computer = created;
    ({ own, done } = created);
    await create('box');
    const { stderr } = await create('notebook', '--template', 'jupyterlab');
    expect(stderr).toContain('Open:        gpucloud instances open notebook\n');
    await create('web', '--docker-image', 'nginx', '--port', '8080:80');
  });
  const create = (name: string, ...more: string[]) =>
    done('instances', 'create', name, ...OFFERED, '--ssh-key', 'laptop', ...more, '--wait', '-y');

  /** Opens a tunnel, and runs a bash command with the local port as `$port`. */
  async function through(name: string, ports: readonly string[], line: string): Promise<Outcome> {
    const tunnel = computer.start(['instances', 'tunnel', name, ...ports, ...own, '--json'], {
      env,
    });
    const { local_port: local } = JSON.parse(await heard(tunnel, 'stdout', /\n$/));
    const outcome = await computer.bash(`port=${local}; ${line}`);
    tunnel.kill('SIGINT');
    return outcome;
  }

  test('allows tunnels to loopback only', async () => {
    const server = createServer((socket) => socket.end('hello\n'));
    const remote = await freePort();
    await new Promise<void>((resolve) => server.listen(remote, '127.0.0.1', resolve));
    const { stdout } = await through('box', [`0:${remote}`], 'cat </dev/tcp/127.0.0.1/$port');
    server.close();
    expect(stdout).toBe('hello\n');
  });

  test('rejects a tunnel that leads to itself', async () => {
    const port = await freePort();
    const tunnel = computer.start(['instances', 'tunnel', 'box', `${port}:${port}`, ...own], {
      env,
    });
    const said = heard(tunnel, 'stderr', /Nothing listens on port .*\n/);
    await heard(tunnel, 'stdout', /\n$/);
    const { stdout } = await computer.bash(`cat </dev/tcp/127.0.0.1/${port}`);
    expect([stdout, await said]).toEqual([
      '',
      expect.stringContaining(
        `Nothing listens on port ${port} of box. Start a program on that port.\n`,
      ),
    ]);
    tunnel.kill('SIGINT');
  });

  test.each([
    ['get', '', 'Use gpucloud instances ssh, tunnel and open.'],
    [
      'endpoints',
      'Secrets in links are masked: --show-secrets shows them, gpucloud instances open opens a link.\n',
      'Use gpucloud instances ssh, tunnel and open.',
    ],
    ['open', '', 'To see the page: gpucloud instances tunnel notebook'],
  ])(
    "prints a note in %s that sandbox addresses can't be reached, but not in JSON",
    async (verb, before, instead) => {
      const { stdout, stderr } = await done('instances', verb, 'notebook');
      expect(stdout).toContain('http://203.0.113.');
      expect(stderr).toBe(`${before}Sandbox addresses can't be reached. ${instead}\n`);
      expect((await done('instances', verb, 'notebook', '--json')).stderr).toBe('');
    },
  );

  test('omits the note without an address', async () => {
    await done('instances', 'terminate', 'web', '--yes', '--wait');
    expect((await done('instances', 'endpoints', 'web')).stderr).not.toContain('addresses');
  });
});
