import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Shell, scriptFile } from '../../completion/index.ts';
import { HEAD } from '../../completion/model.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { errorCode, faultOf } from '../../files/error-code.ts';
import { makeFolders } from '../../files/make-folders.ts';
import { replaceFile } from '../../files/replace.ts';
import { shellLine } from '../../output/shell-line.ts';
import { ensureLoads, removeLine } from './load.ts';

/**
 * Writes the script where its shell looks for it, and makes new shells of bash and zsh load it.
 * Throws CliError('storage') if the script can't be written.
 */
export async function install(shell: Shell, script: string, context: Context) {
  const { env, err } = context;
  const file = fileOf(shell, env);
  const changed = (await ownText(file)) !== script;
  try {
    if (changed) {
      makeFolders(dirname(file), 0o777);
      await replaceFile(file, script);
    }
  } catch (error) {
    const reason = faultOf(error);
    throw new CliError('storage', `Could not write the script to ${file} (${reason}).`, {
      hint: `write it to another file: gpucloud completion ${shell} > FILE`,
      resource: file,
      cause: error,
    });
  }
  err.note(changed ? `Installed: ${file}` : `Up to date: ${file}`);
  if (shell === 'bash' || shell === 'zsh') await ensureLoads(shell, file, context);
  else err.note(adviceFor(shell, file));
  return { file, changed };
}

/** Removes the script that {@link install} wrote. */
export async function uninstall(shell: Shell, context: Context) {
  const { env, err } = context;
  const file = fileOf(shell, env);
  await ownText(file);
  if (shell === 'bash' || shell === 'zsh') await removeLine(shell, context);
  try {
    await rm(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') {
      err.note(`Not installed: ${file}`);
      return { file, changed: false };
    }
    throw new CliError('storage', `Could not remove ${file} (${faultOf(error)}).`, {
      resource: file,
      cause: error,
    });
  }
  err.note(`Removed ${file}.`);
  return { file, changed: true };
}

/** How to load the script, for shells whose settings need no look. */
function adviceFor(shell: 'fish' | 'powershell', file: string): string {
  return shell === 'fish'
    ? `New shells load it. To load it now: source ${shellLine([file])}`
    : `To load it now, and in $PROFILE for new shells: . '${file.replaceAll("'", "''")}'`;
}

function fileOf(shell: Shell, env: Context['env']): string {
  const file = scriptFile(shell, env);
  if (file !== undefined) return file;
  throw new CliError('storage', 'No home folder for the script.', {
    hint: 'set HOME to an absolute path, or print the script without --install',
  });
}

/** Returns an installed script of any version. Throws CliError('storage') for the user's own file. */
async function ownText(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined || text.includes(HEAD[0])) return text;
  throw new CliError('storage', `${file} was not written by gpucloud. It was not changed.`, {
    hint: `move it away: ${shellLine(['mv', file, `${file}.old`])}`,
    resource: file,
  });
}
