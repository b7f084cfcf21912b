import { createServer as createHttp, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { installBrowser } from '../support/browser.ts';
import { needs } from '../support/needs.ts';
import { freePort, listenOn } from '../support/ports.ts';
import { heard, outcomeOf } from '../support/program.ts';
import {
  box,
  createSshSite,
  createSshWorld,
  ID,
  type SshSite,
  type SshWorld,
  until,
} from '../support/ssh-world.ts';

let site: SshSite;
let world: SshWorld;
/** The server on the instance. */
let app: Server;
let appPort: number;

// test/ssh/tunnel.test.ts has the ports, the messages and the pauses.
describe('instances tunnel', needs('ssh'), () => {
  beforeAll(async () => {
    site = await createSshSite();
    app = createHttp((request, response) => response.end(`app ${request.url}`));
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    appPort = (app.address() as AddressInfo).port;
  });
  afterAll(async () => {
    await site.close();
    app.close();
  });
  beforeEach(async () => {
    world = await createSshWorld(site);
  });

  const start = (...words: string[]) =>
    world.computer.start(['instances', 'tunnel', ...world.own, ...words], {
      env: world.service.env,
    });

  test('forwards an HTTP request, and exits with 0 on Ctrl-C', async () => {
    // The test computer is also the instance, so the local port is in use.
    const child = start(ID, String(appPort));
    const ended = outcomeOf(child);
    const [, address] = /(127\.0\.0\.1:\d+)\n/.exec(await heard(child, 'stdout', /\n/)) ?? [];
    expect(address).not.toBe(`127.0.0.1:${appPort}`);
    expect(await (await fetch(`http://${address}/hello`)).text()).toBe('app /hello');
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${address}\n` });
    expect(stderr).toContain(`Local port ${appPort} is in use`);
    expect(stderr).toContain('Closed the tunnel.');
    expect(stderr).not.toContain('debug1');
    await expect(fetch(`http://${address}/hello`)).rejects.toThrow();
  });

  test("omits ssh's line about Ctrl-C, which a terminal sends to ssh too", async () => {
    const tunnel = ['instances', 'tunnel', ...world.own, ID, `0:${appPort}`].join(' ');
    const { code, stdout } = await world.computer.bash(
      [
        'set -m; mkfifo opened',
        // Bash itself prints to stderr when the job ends.
        `gpucloud ${tunnel} > opened 2> errors & read -r _ < opened`,
        'kill -INT -- "-$!"; wait "$!"; code=$?; cat errors; exit "$code"',
      ].join('\n'),
      { env: world.service.env },
    );
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/ until Ctrl-C:\nClosed the tunnel\.\n$/),
    });
  });

  test('reports that nothing listens on the remote port, and keeps the tunnel open', async () => {
    const remote = await freePort();
    const child = start(ID, `0:${remote}`);
    const ended = outcomeOf(child);
    const opened = heard(child, 'stderr', /Nothing listens on port .*\n/);
    const address = (await heard(child, 'stdout', /\n/)).trim();
    await expect(fetch(`http://${address}/`)).rejects.toThrow();
    expect(await opened).toContain(
      `Nothing listens on port ${remote} of box (Connection refused). Start a program on that port.\n`,
    );
    const late = createHttp((_request, response) => response.end('late'));
    await listenOn(late, remote);
    expect(await (await fetch(`http://${address}/`)).text()).toBe('late');
    late.closeAllConnections();
    late.close();
    child.kill('SIGINT');
    await ended;
  });

  test("reopens a lost connection at the instance's new address", async () => {
    const first = await site.start();
    world.service.instances.set(ID, box(first.port));
    const child = start(ID, `0:${appPort}`);
    const ended = outcomeOf(child);
    const again = heard(child, 'stderr', /is open again/);
    const address = (await heard(child, 'stdout', /\n/)).trim();
    world.service.instances.set(ID, box(site.sshd.port));
    await first.stop();
    await again;
    expect(await (await fetch(`http://${address}/back`)).text()).toBe('app /back');
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 0, stdout: `${address}\n` });
  });

  test('opens the link in the browser with --open', async () => {
    const asked: string[] = [];
    const seen = createHttp((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => seen.listen(0, '127.0.0.1', resolve));
    const { port } = seen.address() as AddressInfo;
    const { bin } = await installBrowser(world.computer.home);
    const child = world.computer.start(
      ['instances', 'tunnel', ...world.own, ID, `0:${port}`, '--open'],
      {
        env: {
          ...world.service.env,
          PATH: `${bin}:${process.env.PATH}`,
        },
      },
    );
    const ended = outcomeOf(child);
    await heard(child, 'stdout', /\n/);
    await until(() => asked.length > 0);
    child.kill('SIGINT');
    await ended;
    seen.close();
    expect(asked[0]).toBe('/');
  });
});
