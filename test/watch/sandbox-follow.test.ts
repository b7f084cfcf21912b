import { afterEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { needs } from '../support/needs.ts';
import { type Computer, createComputer, heard, outcomeOf } from '../support/program.ts';
import { createSandboxWorld, createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { forwardTo, type Handler, type Service, startService } from '../support/service.ts';

/** The service charges and reserves per virtual hour: 25 hours per second make 50 events. */
const SPEED = 25 * 3_600;
const BALANCE = '1000000';
const EVENTS_PER_SECOND = 50;

/** Loses one response in five: the service acts, and the client receives nothing. */
function droppingAnswers(handler: Handler): { handler: Handler; dropped(): number } {
  let count = 0;
  let dropped = 0;
  return {
    dropped: () => dropped,
    async handler(request) {
      // A proxy in front of a stopped service returns nothing.
      const answer = await Promise.resolve(handler(request)).catch(() => 'hangUp' as const);
      count += 1;
      // Drops one response in five at varying distances: at a fixed distance, no call would lose
      // all its tries.
      if ((count * 7 + Math.floor(count / 5)) % 5 !== 0) return answer;
      dropped += 1;
      return 'hangUp';
    },
  };
}

/** Returns all IDs of a log, newest first, once the log no longer changes. */
async function idsAt(url: string, apiKey: string, id: string): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ; page += 1) {
    const response = await fetch(`${url}/instances/${id}/events?page=${page}&limit=100`, {
      headers: { 'x-api-key': apiKey },
    });
    const { data, meta } = (await response.json()) as {
      data: { id: string }[];
      meta: { total_pages: number };
    };
    ids.push(...data.map((event) => event.id));
    if (page >= meta.total_pages) return ids;
  }
}

describe('following the sandbox at 50 events per second, with one response in five lost', () => {
  const worlds: World[] = [];
  let computer: Computer | undefined;
  let proxy: Service | undefined;
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close();
    await proxy?.close();
    computer = undefined;
    proxy = undefined;
  });

  test("prints the service's events for 20 seconds of the test clock", {
    timeout: 120_000,
  }, async () => {
    const inner = await createSandboxWorld();
    const { clock, sandbox, service } = inner;
    await sandbox.reset({ balance: BALANCE });
    const created = await inner.cli(['instances', 'create', 'box', ...HARDWARE, '-q']);
    const id = created.stdout.trim();
    await sandbox.setSpeed(SPEED);
    const stop = new AbortController();
    const proxied = droppingAnswers(forwardTo(service.url));
    const from = clock.now();
    let quiet = 0;
    const outer = await createWorld({
      clock,
      apiKey: inner.env.GPUCLOUD_API_KEY ?? '',
      async handler(request) {
        if (clock.now() - from > 20_000) {
          quiet += 1;
          if (quiet === 1) await sandbox.setSpeed(0);
          // Leaves time for a deep walk in progress and one more read.
          if (quiet === 100) stop.abort(new CliError('interrupted', 'Interrupted.'));
        }
        return proxied.handler(request);
      },
    });
    worlds.push(outer, inner);
    const { code, stdout } = await outer.cli(['instances', 'events', id, '-f', '-q'], {
      interrupts: { first: stop.signal, second: new AbortController().signal },
    });
    expect(code).toBe(130);
    const printed = stdout.trim().split('\n');
    const there = await idsAt(service.url, inner.env.GPUCLOUD_API_KEY ?? '', id);
    expect(there.length).toBeGreaterThan(18 * EVENTS_PER_SECOND);
    expect(printed).toEqual(there.reverse());
    expect(proxied.dropped()).toBeGreaterThan(5);
  });

  test("prints the service's events for a minute of real time, with the built program", {
    timeout: 400_000,
    ...needs('soak'),
  }, async () => {
    computer = await createComputer();
    const own = computer;
    const sandbox = { env: { GPUCLOUD_PROFILE: 'sandbox' } };
    await own.gpucloud(['sandbox', 'reset', '--balance', BALANCE, '-y']);
    const created = await own.gpucloud(['instances', 'create', 'box', ...HARDWARE, '-q'], sandbox);
    const id = created.stdout.trim();
    const server = own.start(['sandbox', 'serve', '--speed', String(SPEED), '--json']);
    const { url, api_key } = JSON.parse(await heard(server, 'stdout', /\n/));
    const proxied = droppingAnswers(forwardTo(url));
    proxy = await startService(proxied.handler);
    const follower = own.start(['instances', 'events', id, '-f', '-q'], {
      env: { GPUCLOUD_BASE_URL: proxy.url, GPUCLOUD_API_KEY: api_key },
    });
    let heardOf = '';
    follower.stdout.on('data', (chunk) => {
      heardOf += chunk;
    });
    const outcome = outcomeOf(follower);
    await new Promise((resolve) => setTimeout(resolve, 60_000));
    server.kill('SIGTERM');
    await outcomeOf(server);
    // Restarts the server with a stopped account clock.
    const port = new URL(url).port;
    const still = own.start(['sandbox', 'serve', '--speed', '0', '--port', port, '--json']);
    await heard(still, 'stdout', /\n/);
    const there = await idsAt(url, api_key, id);
    for (let seconds = 0; seconds < 60 && !heardOf.includes(there[0] ?? ''); seconds += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    follower.kill('SIGINT');
    const { code, stdout, stderr } = await outcome;
    still.kill('SIGTERM');
    await outcomeOf(still);
    expect({ code, stderr: stderr.includes('missing') }).toEqual({ code: 130, stderr: false });
    expect(there.length).toBeGreaterThan(50 * EVENTS_PER_SECOND);
    expect(stdout.trim().split('\n')).toEqual(there.reverse());
    expect(proxied.dropped()).toBeGreaterThan(10);
  });
});
