import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { SCRIPT_NAMES, type Shell } from '../../completion/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { faultOf } from '../../files/error-code.ts';
import { makeFolders } from '../../files/make-folders.ts';
import { replaceFile } from '../../files/replace.ts';
import { shellLine } from '../../output/shell-line.ts';

type Env = Context['env'];

/**
 * Puts the script where its shell looks for it. No file of the user's own, such as `.zshrc`, is
 * touched: what belongs there is said. Throws CliError('storage') when it can't be written.
 */
export async function install(shell: Shell, script: string, { env }: Pick<Context, 'env'>) {
  const file = fileFor(shell, env);
  // It may hold the script already.
  const changed = (await textOf(file)) !== script;
  if (changed) {
    try {
      makeFolders(dirname(file), 0o777);
      await replaceFile(file, script);
    } catch (error) {
      const reason = faultOf(error);
      throw new CliError('storage', `The script could not be written to ${file} (${reason}).`, {
        hint: `put it where you like: gpucloud completion ${shell} > FILE`,
        resource: file,
        cause: error,
      });
    }
  }
  return { file, changed, advice: adviceFor(shell, file) };
}

function fileFor(shell: Shell, env: Env): string {
  switch (shell) {
    case 'bash': {
      const own = env.BASH_COMPLETION_USER_DIR?.split(':').find(isAbsolute);
      const folder = own ?? join(dataFolder(env), 'bash-completion');
      // The name is that of the command: it is loaded at the first Tab after it.
      return join(folder, 'completions', 'gpucloud');
    }
    case 'zsh':
      return join(dataFolder(env), 'zsh', 'site-functions', SCRIPT_NAMES.zsh);
    case 'fish':
      return join(
        absolute(env.XDG_CONFIG_HOME) ?? atHome(env, '.config'),
        'fish',
        'completions',
        SCRIPT_NAMES.fish,
      );
    case 'powershell':
      return join(
        absolute(env.LOCALAPPDATA) ?? dataFolder(env),
        'gpucloud',
        'completions',
        SCRIPT_NAMES.powershell,
      );
  }
}

/** What is left for the user to do, and how to have it in this shell at once. */
function adviceFor(shell: Shell, file: string): string[] {
  const word = shellLine([file]);
  switch (shell) {
    case 'bash':
      return [
        'New shells load it by themselves where the package bash-completion is set up; elsewhere add this line to ~/.bashrc, which also loads it now:',
        `  source ${word}`,
      ];
    case 'zsh':
      return [
        'For new shells, add these lines to ~/.zshrc, or the first of them before a compinit that is there:',
        `  fpath=(${shellLine([dirname(file)])} $fpath)`,
        '  autoload -Uz compinit && compinit',
        `To load it now, after compinit: source ${word}`,
      ];
    case 'fish':
      return [`New shells load it by themselves. To load it now: source ${word}`];
    case 'powershell':
      return [
        'For new shells, add this line to the file that $PROFILE names; it also loads it now:',
        `  . '${file.replaceAll("'", "''")}'`,
      ];
  }
}

function dataFolder(env: Env): string {
  return absolute(env.XDG_DATA_HOME) ?? atHome(env, '.local', 'share');
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

function atHome(env: Env, ...parts: string[]): string {
  const home = absolute(env.HOME) ?? absolute(env.USERPROFILE);
  if (home === undefined) {
    throw new CliError('storage', 'There is no home folder to put the script in.', {
      hint: 'set HOME to an absolute path, or print the script without --install',
    });
  }
  return join(home, ...parts);
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
}
