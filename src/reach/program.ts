import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { errorCode } from '../files/error-code.ts';
import { probeArgv } from './argv.ts';
import { openForward } from './forward.ts';
import type { Argv } from './print-command.ts';
import { shellLine } from './quote.ts';
import { type Reached, refuseDocumentation } from './reach.ts';
import { type Trouble, troubleIn } from './trouble.ts';

/** ssh's own failures; a remote command can end so, too. */
const SSH_FAILED = 255;

/** Milliseconds in which a machine has said why ssh fails. */
const PROBE_PATIENCE = 10_000;

/**
 * Runs ssh or scp with our own terminal and streams. Its exit code becomes that of the run; where
 * it is ssh's own, why is found out and told.
 */
export async function runProgram(argv: Argv, reached: Reached, context: Context): Promise<void> {
  refuseDocumentation(reached);
  const [file = '', ...args] = argv;
  let code: number;
  try {
    code = await (await context.start({ file, args })).ended;
  } catch (error) {
    throw notStarted(file, error);
  }
  const isFailed = code === SSH_FAILED && !context.signal.aborted;
  const trouble = isFailed ? await probe(reached, context) : undefined;
  // The Ctrl-C that ended ssh is ours too. We may hear of it after its end.
  if (context.signal.aborted) {
    const { reason } = context.signal;
    context.endWith(reason instanceof CliError ? reason.exitCode : code);
    return;
  }
  context.endWith(code);
  if (trouble !== undefined) context.err.warn(troubleWords(trouble, reached, context));
}

/** The error for a program that could not be started at all. */
export function notStarted(file: string, error: unknown): CliError {
  const code = errorCode(error) ?? String(error);
  return code === 'ENOENT'
    ? new CliError('refused', `There is no ${file} on PATH: machines are entered with OpenSSH.`, {
        hint: 'install an OpenSSH client (openssh-client on Debian and Ubuntu, an optional feature on Windows); "gpucloud doctor" checks it',
        cause: error,
      })
    : new CliError('refused', `${file} could not be started (${code}).`, { cause: error });
}

/** Tries again to sign in, to tell what failed; a sign-in that succeeds tells that it was not ssh. */
async function probe({ way, manner }: Reached, context: Context): Promise<Trouble | undefined> {
  try {
    let opened = false;
    const forward = await openForward(
      probeArgv(way, manner),
      (program) => context.start({ ...program, timeout: PROBE_PATIENCE }),
      {
        open() {
          opened = true;
          forward.close();
        },
        say: () => undefined,
        log: () => undefined,
      },
    );
    const { said } = await forward.ended;
    return opened ? undefined : troubleIn(said);
  } catch {
    return undefined;
  }
}

/** What a person can do about it. */
export function troubleWords(
  trouble: Trouble,
  { target, instance, way, manner }: Reached,
  { host }: Context,
): string {
  switch (trouble) {
    case 'hostKey': {
      const forget = shellLine(
        ['ssh-keygen', '-f', manner.knownHosts, '-R', way.id],
        host.platform,
      );
      return `${target.name} (${way.id}) shows another host key than the one that was kept when it was first entered, so nothing was sent to it. Its system may have been set up anew, or somebody answers in its place. When you know that the new key is right, forget the old one: ${forget}`;
    }
    case 'keys': {
      const names = (instance.ssh_keys ?? []).map(
        ({ name, id, fingerprint }) =>
          `${name ?? id}${fingerprint == null ? '' : ` ${fingerprint}`}`,
      );
      const there =
        names.length === 0
          ? 'the service names no key on it'
          : `the keys on it are ${names.join(', ')}`;
      return `${target.name} takes none of the keys that were tried: ${there}. Choose the private half of one with --identity FILE.`;
    }
    case 'unreachable':
      return `SSH of ${target.name} does not answer at ${way.host} port ${way.port}. Just after a start that takes a while: add --wait.`;
  }
}
