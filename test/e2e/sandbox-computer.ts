import { afterAll, beforeAll, expect } from 'vitest';
import { type Computer, createComputer, type Outcome } from '../support/program.ts';
import { makeKey } from '../support/sshd.ts';

export interface SandboxComputer extends Computer {
  /** Path of the private key whose public key the account has, as `laptop`. */
  readonly key: string;
  /** Flags that sign in with that key, whatever the user's ssh configuration. */
  readonly own: readonly string[];
  /** Runs gpucloud in the sandbox, and expects its success. */
  done(...argv: string[]): Promise<Outcome>;
}

/** Selects the built-in sandbox. */
export const SANDBOX = { GPUCLOUD_PROFILE: 'sandbox' };

/** Creates a computer with a sandbox at 60 times the speed before the tests, and removes it after. */
export function withSandboxComputer(
  ready: (computer: SandboxComputer) => unknown,
  env: Readonly<Record<string, string>> = SANDBOX,
): void {
  let computer: SandboxComputer;
  beforeAll(async () => {
    const created = await createComputer();
    const key = makeKey(created.home, 'laptop');
    computer = {
      ...created,
      key,
      own: ['--identity', key, '--ssh-arg=-F/dev/null'],
      async done(...argv) {
        const outcome = await created.gpucloud(argv, { env });
        expect(outcome.code, outcome.stderr).toBe(0);
        return outcome;
      },
    };
    await computer.done('sandbox', 'reset', '--speed', '60', '--yes');
    await computer.done('ssh-keys', 'add', '--name', 'laptop', `${key}.pub`);
    await ready(computer);
  }, 60_000);
  afterAll(async () => {
    await computer.done('sandbox', 'reset', '--yes');
    await computer.remove();
  });
}
