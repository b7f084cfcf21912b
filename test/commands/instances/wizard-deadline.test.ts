import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type World } from '../../support/run-cli.ts';

/** Tests what the wizard says of the deadline. */
let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: () => 'hangUp', signedIn: false });
});

const env = { GPUCLOUD_PROFILE: 'sandbox' };

/** Runs a command and answers its prompts. */
function answered(argv: readonly string[], ...lines: readonly string[]) {
  return world.cli(argv, {
    terminal: true,
    columns: 300,
    typedAhead: true,
    env: { ...env, TERM: 'dumb', PATH: process.env.PATH },
    stdin: lines.map((line) => `${line}\n`).join(''),
  });
}

async function instances() {
  const { stdout } = await world.cli(['instances', 'list', '--all', '--json'], { env });
  return JSON.parse(stdout);
}

describe('a deadline in the wizard', () => {
  const SHORT = ['instances', 'create', 'box', '--offer', 'rtx-4090', '--image', 'ubuntu-22-04'];

  test('warns before the confirmation that the balance does not last until the deadline', async () => {
    const ends = ['--terminate-after', '8d', '--unenforced', '--no-ssh-key'];
    const argv = [...SHORT.slice(0, -2), ...ends];
    const { stderr } = await answered(argv, ...['ubuntu 22', 'jupyter', 'cancel']);
    const [summary = '', question] = stderr.split('Rent it?');
    expect(question, stderr).toBeDefined();
    expect(summary.split('\n')).toContain(
      'Warning: The balance is 10,500.00 ₽, but the hours until the deadline cost 17,260.80 ₽ at the last known price. It is not documented what happens to an instance if the balance is empty: results may be lost.',
    );
  });

  test('rents with a deadline of tomorrow if its time has passed today before the question', async () => {
    const before = new Date(world.clock.now() - 20 * 60_000).toTimeString().slice(0, 5);
    const argv = [...SHORT, '--terminate-at', before, '--unenforced', '--no-ssh-key', '--no-drive'];
    const { code, stderr } = await answered(argv.slice(0, -1), 'jupyter', 'yes');
    expect(code, stderr).toBe(0);
    expect(await instances()).toMatchObject([{ ends_at: '2026-01-16T11:40:00.000Z' }]);
  });

  test('shows the new day and asks again if the time of the deadline passes during the question', async () => {
    const { clock } = world;
    const soon = new Date(clock.now() + 20 * 60_000);
    const time = `${soon.getHours()}`.padStart(2, '0') + soon.toTimeString().slice(2, 5);
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const screens: string[] = [];
    let screen = '';
    stderr.setEncoding('utf8').on('data', (text: string) => {
      screen += text;
      if (!/Rent it\?[\s\S]*\[1\] $/.test(screen)) return;
      screens.push(screen);
      screen = '';
      clock.advance(30 * 60_000);
      stdin.write(screens.length === 1 ? 'yes\n' : 'cancel\n');
    });
    const argv = [...SHORT.slice(0, -2), '--terminate-at', time, '--unenforced', '--no-ssh-key'];
    stdin.write(['ubuntu 22', 'jupyter'].map((line) => `${line}\n`).join(''));
    const { code } = await world.cli(argv, {
      ...{ terminal: true, columns: 300, typedAhead: true, pipes: { stdin, stdout, stderr } },
      env: { ...env, TERM: 'dumb', PATH: process.env.PATH },
    });
    const passed = `${time} has passed today, so the deadline is tomorrow`;
    expect(screens.map((one) => one.includes(passed))).toEqual([false, true]);
    expect({ code, rented: await instances() }).toEqual({ code: 130, rented: [] });
  });
});
