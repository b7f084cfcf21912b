import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Shell, scriptFile } from '../../completion/index.ts';
import { HEAD } from '../../completion/model.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { errorCode, faultOf } from '../../files/error-code.ts';
import { makeFolders } from '../../files/make-folders.ts';
import { replaceFile } from '../../files/replace.ts';
import { shellLine } from '../../output/shell-line.ts';

/**
 * Writes the script where its shell looks for it. Changes no file of the user, such as `.zshrc`.
 * Throws CliError('storage') if it can't be written.
 */
export async function install(shell: Shell, script: string, { env, err }: Context) {
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
  for (const line of adviceFor(shell, file)) err.note(line);
  return { file, changed };
}

/** Removes the script that {@link install} wrote. */
export async function uninstall(shell: Shell, { env, err }: Context) {
  const file = fileOf(shell, env);
  await ownText(file);
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
  err.note(`Removed ${file}. Remove the line that loads it, if you added one.`);
  return { file, changed: true };
}

/** Steps left for the user, and how to load the script now. For zsh, a check replaces them. */
function adviceFor(shell: Shell, file: string): string[] {
  const word = shellLine([file]);
  switch (shell) {
    case 'bash':
      return [
        `To load it now, and in ~/.bashrc if the package bash-completion is missing: source ${word}`,
      ];
    case 'zsh':
      return [];
    case 'fish':
      return [`New shells load it. To load it now: source ${word}`];
    case 'powershell':
      return [`To load it now, and in $PROFILE for new shells: . '${file.replaceAll("'", "''")}'`];
  }
}

/** Prints zsh's settings folder, whether compinit has run, and whether gpucloud is completed. */
const PROBE = 'print -r -- "gpucloud|${ZDOTDIR:-$HOME}|$+functions[compdef]|$+_comps[gpucloud]|"';

/** In milliseconds: a new zsh reads all the user's settings. */
const PROBE_TIMEOUT = 10_000;

/**
 * Checks that a new zsh completes gpucloud, since only its settings decide that.
 *
 * @throws CliError('usage') with the line to add, and the file to add it to.
 */
export async function ensureZshLoads(file: string, { start, env }: Context): Promise<void> {
  let heard = '';
  try {
    // Without job control (+m), zsh leaves the terminal alone.
    const { ended } = await start({
      file: 'zsh',
      args: ['-i', '+m', '-c', PROBE],
      timeout: PROBE_TIMEOUT,
      hear: (text, from) => {
        if (from === 'stdout') heard += text;
      },
    });
    await ended;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const [, settings, hasCompdef, isLoaded] = /gpucloud\|(.*)\|([01])\|([01])\|\n/.exec(heard) ?? [];
  if (isLoaded === '1') return;
  const load = `source ${shellLine([file])}`;
  const line = hasCompdef === '1' ? load : `autoload -Uz compinit && compinit && ${load}`;
  const zshrc = join(settings ?? (env.ZDOTDIR || '~'), '.zshrc');
  throw usageError(
    `zsh does not complete gpucloud yet; add this line to the end of ${zshrc}`,
    line,
  );
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
