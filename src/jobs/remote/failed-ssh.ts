import { CliError } from '../../errors.ts';
import type { Target } from '../../instances/resolve.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import { troubleIn } from '../../ssh/ssh-process.ts';

/** ssh's own exit code. A remote command may also return this code. */
export const SSH_FAILED = 255;

/** Whether a retry may succeed: ssh failed, but not because of a new host key. */
export function isCut(code: number, printed: string): boolean {
  return code === SSH_FAILED && !isOtherHost(printed);
}

export function isOtherHost(printed: string): boolean {
  return troubleIn(printed) === 'hostKey';
}

/** Throws if ssh refused the host key, since a retry can't succeed. */
export function ensureSameHost(printed: string, { id, name }: Target): void {
  if (!isOtherHost(printed)) return;
  throw new CliError(
    'unreachable',
    `${name} has a new host key: it may have been reinstalled, or another server responds in its place.`,
    {
      resource: id,
      hint: `connect once to see how to trust the key: ${gpucloud('instances', 'ssh', typedName(name, id))}`,
    },
  );
}

/** The instance responded, but refused the key. Waiting does not help. */
export class SignInRefused extends CliError {
  constructor({ id, name }: Target, printed: string) {
    super('unreachable', `Could not connect to ${name}: ${printed}`, { resource: id });
  }
}

export function isKeyRefused(printed: string): boolean {
  return troubleIn(printed) === 'keys';
}

/** Whether a line reports a full disk, which explains the other lines. */
export function isFull(line: string): boolean {
  return /No space left on device|Disk quota exceeded/.test(line);
}

/** Returns the line of an output that most likely has the reason of a failure. */
export function lastLine(printed: string): string {
  const text = printed.trim();
  return text.split('\n').find(isFull) ?? text.replace(/.*\n/s, '');
}

/** Returns the error for a script that failed on an instance. A cut connection may be retried. */
export function scriptFailed(
  what: string,
  { code, stderr }: { readonly code: number; readonly stderr: string },
  details: ConstructorParameters<typeof CliError>[2] = {},
): CliError {
  const reason = lastLine(stderr) || `exit code ${code}`;
  const retryable = isCut(code, stderr);
  return new CliError('refused', `${what}: ${reason}`, { retryable, ...details });
}

/** Throws if the instance refuses this user, and names another: a retry can't succeed. */
export function ensureUser(printed: string, { id, name }: Target): void {
  const [, user] = /log ?in as the user "([\w.-]+)"/i.exec(printed) ?? [];
  if (user === undefined) return;
  throw new CliError('refused', `${name} refused to sign in: ${printed}`, {
    resource: id,
    hint: `sign in as that user: --user ${user}`,
  });
}
