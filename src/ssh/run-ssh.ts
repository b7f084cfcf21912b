import type { Context } from '../context.ts';
import { asCliError } from '../errors.ts';
import { gpucloud, shellLine } from '../output/shell-line.ts';
import { typedName } from '../rules/names.ts';
import type { Reached } from './reach.ts';
import { probeArgv } from './ssh-argv.ts';
import { notStarted, startSsh, type Trouble, troubleIn } from './ssh-process.ts';

/** The exit code of ssh's own failures. A remote command may return the same code. */
const SSH_FAILED = 255;

/** Timeout for diagnosing an ssh failure, in milliseconds. */
const PROBE_TIMEOUT = 10_000;

/**
 * Runs ssh or scp with gpucloud's own terminal and streams, and exits with the program's exit code.
 * If ssh itself failed, prints a warning with the reason.
 */
export async function runSsh(
  argv: readonly string[],
  reached: Reached,
  context: Context,
): Promise<void> {
  const [file = '', ...args] = argv;
  let code: number;
  try {
    code = await (await context.start({ file, args })).ended;
  } catch (error) {
    throw notStarted(file, error);
  }
  const isFailed = code === SSH_FAILED && !context.signal.aborted;
  const trouble = isFailed ? await probe(reached, context) : undefined;
  // The Ctrl-C that stopped ssh also interrupts gpucloud, but may arrive after ssh has exited.
  if (context.signal.aborted) {
    context.endWith(asCliError(context.signal.reason).exitCode);
    return;
  }
  context.endWith(code);
  if (trouble === undefined) return;
  context.err.warn('connection', troubleText(trouble, reached, context));
}

/**
 * Signs in again to find out why ssh failed. Returns undefined if signing in works now or the cause
 * stays unknown.
 */
async function probe({ endpoint, ssh }: Reached, context: Context): Promise<Trouble | undefined> {
  let opened = false;
  try {
    const child = await startSsh(
      probeArgv(endpoint, ssh),
      (program) => context.start({ ...program, timeout: PROBE_TIMEOUT }),
      {
        open() {
          opened = true;
          child.close();
        },
      },
    );
    const { output } = await child.ended;
    return opened ? undefined : troubleIn(output);
  } catch {
    // With too many processes, ssh can't start again. Its first exit code counts.
    return undefined;
  }
}

/** Returns a message with the reason and the next step. */
export function troubleText(
  trouble: Trouble,
  { target, instance, endpoint, ssh }: Reached,
  { host }: Pick<Context, 'host'>,
): string {
  switch (trouble) {
    case 'hostKey': {
      const forget = ['ssh-keygen', '-f', ssh.knownHosts, '-R', endpoint.id];
      return `${target.name} (${endpoint.id}) has a new host key, so nothing was sent. It may have been reinstalled, or another server responds in its place. If you trust the new key, remove the old key: ${shellLine(forget, host.platform)}`;
    }
    case 'keys': {
      const names = (instance.ssh_keys ?? []).map(
        ({ name, id, fingerprint }) =>
          `${name ?? id}${fingerprint == null ? '' : ` ${fingerprint}`}`,
      );
      if (names.length === 0) {
        const end = gpucloud('instances', 'terminate', typedName(target.name, endpoint.id));
        return `${target.name} refused every key: the service lists none for it, and none can be added. Rent a new instance with --ssh-key, and terminate this one: ${end}`;
      }
      return `${target.name} refused every key: its keys are ${names.join(', ')}. Select a private key with --identity FILE.`;
    }
    case 'unreachable':
      return `SSH of ${target.name} does not respond at ${endpoint.host} port ${endpoint.port}. If the instance has just started, add --wait.`;
  }
}
