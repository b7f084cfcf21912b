import { appendFile, readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Shell, scriptFile } from '../../completion/index.ts';
import { HEAD } from '../../completion/scripts.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { shellLine } from '../../output/shell-line.ts';
import { errorCode, faultOf } from '../../system/error-code.ts';
import { makeFolders, replaceFile } from '../../system/files.ts';

/**
 * Writes the script to the shell's completion folder, and makes new bash and zsh shells load it.
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
  err.note(changed ? `Installed for ${shell}: ${file}` : `Up to date: ${file}`);
  if (shell === 'bash' || shell === 'zsh') await ensureLoads(shell, file, context);
  else for (const line of adviceFor(shell, file)) err.note(line);
  return { file, changed };
}

/** Removes the installed script. */
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

/**
 * Explains how to load the script in fish and PowerShell, since their startup files stay unchanged.
 */
function adviceFor(shell: 'fish' | 'powershell', file: string): string[] {
  return shell === 'fish'
    ? ['New shells load the script. To load it now:', `  source ${shellLine([file])}`]
    : [
        'To load it now, run this line; for new shells, add the line to $PROFILE:',
        `  . '${file.replaceAll("'", "''")}'`,
      ];
}

function fileOf(shell: Shell, env: Context['env']): string {
  const file = scriptFile(shell, env);
  if (file !== undefined) return file;
  throw new CliError('storage', 'Could not install the script: no home folder.', {
    hint: 'set HOME to an absolute path, or print the script without --install',
  });
}

/**
 * Returns the installed script of any version. Throws CliError('storage') for the user's own file.
 */
async function ownText(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined || text.includes(HEAD)) return text;
  throw new CliError('storage', `gpucloud did not write ${file}, so it did not change the file.`, {
    hint: `move the file: ${shellLine(['mv', file, `${file}.old`])}`,
    resource: file,
  });
}

/** Shells to start, to check whether a new shell loads the script. */
type Asked = 'bash' | 'zsh';

/** Marks gpucloud's line in a user's file. */
const MARK = '# added by gpucloud completion --install';

/**
 * Prints `gpucloud|FOLDER|HAS|LOADS|` in a new shell: the settings folder, whether the shell can
 * load scripts, and whether it completes gpucloud. bash-completion loads a script at the first Tab.
 */
const PROBES: Readonly<Record<Asked, readonly string[]>> = {
  bash: [
    '-i',
    '-c',
    `for load in _comp_load _completion_loader; do
      complete -p gpucloud || { declare -F $load && $load gpucloud; }
    done > /dev/null 2>&1
    complete -p gpucloud > /dev/null 2>&1
    echo "gpucloud|$HOME|1|$((! $?))|"`,
  ],
  zsh: [
    '-i',
    '-c',
    'print -r -- "gpucloud|${ZDOTDIR:-$HOME}|$+functions[compdef]|$+_comps[gpucloud]|"',
  ],
};

/** Milliseconds. A new shell runs all the user's startup files. */
const PROBE_TIMEOUT = 10_000;

interface NewShell {
  /** The shell's startup file. */
  readonly file: string;
  readonly canLoad: boolean;
  readonly completes: boolean;
}

/** Starts a new interactive shell. Returns undefined if it fails to run. */
async function newShell(shell: Asked, { start }: Context): Promise<NewShell | undefined> {
  let heard = '';
  try {
    const { ended } = await start({
      file: shell,
      args: PROBES[shell],
      timeout: PROBE_TIMEOUT,
      // Uses a separate session, since an interactive shell would take over the terminal.
      ownSession: true,
      hear: (text, from) => {
        if (from === 'stdout') heard += text;
      },
    });
    await ended;
  } catch {
    return undefined;
  }
  const [, folder, can, does] = /gpucloud\|(.*)\|([01])\|([01])\|\n/.exec(heard) ?? [];
  if (folder === undefined) return undefined;
  return { file: join(folder, `.${shell}rc`), canLoad: can === '1', completes: does === '1' };
}

/**
 * Makes new shells complete gpucloud: adds a line to the user's startup file if nothing loads the
 * script yet. Prints the remaining steps.
 */
async function ensureLoads(shell: Asked, script: string, context: Context): Promise<void> {
  const { err } = context;
  const load = `source ${shellLine([script])}`;
  // Prints each command on its own line, since nobody can paste a wrapped command.
  const note = (text: string, commands: readonly string[]) => {
    for (const one of [text, ...commands.map((command) => `  ${command}`)]) err.note(one);
  };
  const before = await newShell(shell, context);
  if (before?.completes) {
    return note('New shells load the script. To load it now:', [load]);
  }
  const prepare = shell === 'zsh' && before?.canLoad !== true;
  const commands = [...(prepare ? ['autoload -Uz compinit && compinit'] : []), load];
  const line = commands.join(' && ');
  if (before === undefined) {
    return note(
      `Could not ask a new ${shell}. Add these commands to the end of ~/.${shell}rc:`,
      commands,
    );
  }
  try {
    const text = await readFile(before.file, 'utf8').catch(ifMissing);
    const start = text === '' || text.endsWith('\n') ? '' : '\n';
    await appendFile(before.file, `${start}${line} ${MARK}\n`);
  } catch (error) {
    return note(
      `Could not change ${before.file} (${faultOf(error)}). Add these commands to it:`,
      commands,
    );
  }
  const after = await newShell(shell, context);
  const added = `Added a line to ${before.file}`;
  if (after?.completes)
    return note(`${added}, so new shells load the script. To load it now:`, commands);
  if (after === undefined) {
    return note(
      `${added}. Could not ask a new ${shell} whether it loads the script. To load it now:`,
      commands,
    );
  }
  err.note(
    `${added}, but an earlier line of the file prevents a new ${shell} from loading the script.`,
  );
}

function ifMissing(error: unknown): string {
  if (errorCode(error) !== 'ENOENT') throw error;
  return '';
}

/** Removes gpucloud's line from the startup file. */
async function removeLine(shell: Asked, context: Context): Promise<void> {
  const { err } = context;
  const file = (await newShell(shell, context))?.file;
  if (file === undefined) return;
  try {
    const text = await readFile(file, 'utf8').catch(ifMissing);
    const lines = text.split('\n');
    const others = lines.filter((line) => !line.endsWith(MARK));
    if (others.length === lines.length) return;
    // Follows a symlink, since the startup file may be in a dotfiles folder.
    const path = await realpath(file);
    const { mode, uid, gid } = await stat(path);
    await replaceFile(path, others.join('\n'), { mode: mode & 0o777, owner: { uid, gid } });
    err.note(`Removed the line that loads the script from ${file}.`);
  } catch (error) {
    err.note(
      `Could not change ${file} (${faultOf(error)}). Remove the line that ends with "${MARK}".`,
    );
  }
}
