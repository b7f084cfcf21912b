import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSandboxWorld, type SandboxWorld } from '../support/run-cli.ts';
import { errorOf } from '../support/stderr-lines.ts';
import { budget } from './agent.ts';

let world: SandboxWorld;
beforeEach(async () => {
  world = await createSandboxWorld();
});
afterEach(() => world.close());

describe('the flags', () => {
  test.each([
    [
      ['--allow', 'all'],
      '--allow all needs --max-cost and --for: they limit what an agent can spend',
    ],
    [
      ['--allow', 'jobs', '--for', '1h'],
      '--allow jobs needs --max-cost and --for: they limit what an agent can spend',
    ],
    [['--allow', 'all', ...budget(0)], '--max-cost "0": must be more than zero roubles'],
    [['--allow', 'all', ...budget(-5)], '--max-cost "-5": must be more than zero roubles'],
    [
      ['--allow', 'all', ...budget(1e30)],
      '--max-cost "1e+30": must be a decimal number of roubles, such as 1500 or 99.90',
    ],
    [
      ['--allow', 'all', '--max-cost', '5', '--for', '999999d'],
      '--for "999999d": must be at most 366d',
    ],
    [
      ['--allow', 'all', '--max-instances', '0'],
      '--max-instances "0": must be a whole number from 1 to 1000',
    ],
    [
      ['--max-cost', '5'],
      '--max-cost, --max-instances, --for and --keep need --allow jobs or all: a read session rents nothing',
    ],
    [
      ['--keep'],
      '--max-cost, --max-instances, --for and --keep need --allow jobs or all: a read session rents nothing',
    ],
    [
      ['--allow', 'jobs', '--max-cost', '5', '--for', '1h'],
      'Nothing on this computer enforces deadlines: "instances reap" is not scheduled. Nothing was sent.',
    ],
  ])('exits with 2 for %j', async (argv, message) => {
    const { code, stdout, stderr, requests } = await world.cli(['mcp', ...argv, '--json']);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(errorOf(stderr)).toMatchObject({ code: 'usage', message });
  });
});
