import { describe, expect, test } from 'vitest';
import { inRoubles, type Money, zero } from '../../src/rules/money.ts';
import { decimal } from '../sandbox/lives.ts';
import { needs } from '../support/needs.ts';
import { type SandboxComputer, withSandboxComputer } from './sandbox-computer.ts';

describe('the receipt of a job in the sandbox', { timeout: 90_000, ...needs('ssh') }, () => {
  let done: SandboxComputer['done'];
  let key: string;
  withSandboxComputer((computer) => {
    ({ done, key } = computer);
  });

  function run(name: string, flags: readonly string[], command: string) {
    const own = ['--identity', key, '--terminate-after', '4h'];
    const hardware = ['--offer', 'H100 80GB', '--image', 'Ubuntu 22.04', '--unenforced'];
    return done('run', '--name', name, ...hardware, ...own, ...flags, '--', 'sh', '-c', command);
  }

  const shown = async (...argv: string[]) => JSON.parse((await done(...argv, '--json')).stdout);

  /** Returns what the service charged for an instance. The sandbox names it in the description. */
  async function chargedFor(name: string): Promise<Money> {
    const entries: { type: string; description: string; amount: string }[] = await shown(
      ...['billing', 'transactions', '--all'],
    );
    const own = entries.filter(({ description }) => description.endsWith(` ${name}`));
    expect(own.map(({ type }) => type)).toEqual(['USAGE_CHARGE']);
    return own.reduce((sum, { amount }) => sum.plus(decimal(amount)), zero());
  }

  async function costOf(name: string): Promise<Money> {
    const { cost, report } = await shown('jobs', 'get', name);
    expect(report.cost).toBe(cost);
    return decimal(cost);
  }

  test('equals the transactions after run', async () => {
    const { stderr } = await run('plain', [], 'true');
    const charged = await chargedFor('plain');
    // Phases of less than a second are not listed.
    expect(stderr.replace('₽.', '₽:')).toContain(`\nIt cost ${inRoubles(charged)}:`);
    expect(String(await costOf('plain'))).toBe(String(charged));
  });

  test('equals the transactions after run --here, for each instance and the sum', async () => {
    const { stderr } = await run('fleet', ['--here', '--count', '2'], 'true');
    const [one, two] = [await chargedFor('fleet-1'), await chargedFor('fleet-2')];
    expect(stderr).toContain(
      `\nThey cost ${inRoubles(one.plus(two))}: fleet-1 ${inRoubles(one)}, fleet-2 ${inRoubles(two)}.\n`,
    );
    expect(String(await costOf('fleet-1'))).toBe(String(one));
  });
});
