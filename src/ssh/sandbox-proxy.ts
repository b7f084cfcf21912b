import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { gpucloud, shellLine } from '../output/shell-line.ts';
import { isSandbox, type WithSettings } from '../watch/ssh-endpoint.ts';

/**
 * Returns the ProxyCommand for an instance of the built-in sandbox: gpucloud itself, as the
 * instance's SSH server. Returns undefined for a real service.
 */
export async function sandboxProxy(id: string, context: Context): Promise<string | undefined> {
  if (!(await isSandbox(context))) return undefined;
  await ensureSandboxSsh(context);
  const { host, err } = context;
  const sandbox = await context.sandbox();
  if (await sandbox.openFolder()) {
    err.note('Commands on a sandbox instance run on this computer, as you.');
  }
  const { file, args } = host.self();
  const line = shellLine([file, ...args, 'sandbox', 'connect', id, '--state', sandbox.file]);
  // Escapes percent signs, since ssh replaces %h and similar sequences.
  return line.replaceAll('%', '%%');
}

/** Throws CliError('wrongState') in the sandbox on Windows, before anything is rented. */
export async function ensureSandboxSsh(
  context: WithSettings & { readonly host: { readonly platform: string } },
): Promise<void> {
  if (context.host.platform !== 'win32' || !(await isSandbox(context))) return;
  throw new CliError('wrongState', 'Sandbox instances have no SSH on Windows.', {
    hint: 'run gpucloud in WSL',
  });
}

/**
 * Prints that no server has the addresses of the built-in sandbox, and which command works instead.
 */
export async function noteNowhere(
  context: Context,
  instead = `Use ${gpucloud('instances', 'ssh')}, tunnel and open.`,
): Promise<void> {
  if (!context.out.people || !(await isSandbox(context))) return;
  context.err.note(`Sandbox addresses can't be reached. ${instead}`);
}

/**
 * Returns the page behind a port of an instance in the built-in sandbox, where no server runs
 * between commands.
 */
export async function sandboxPage(
  id: string,
  port: number | null,
  context: Context,
): Promise<string | undefined> {
  if (port === null || !(await isSandbox(context))) return undefined;
  return (await context.sandbox()).page(id, port);
}
