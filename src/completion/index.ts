import { isAbsolute, join } from 'node:path';

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

/** The hidden command that the scripts run at each Tab. */
export const COMPLETE = '__complete';

/** File name that each shell looks for. completions/ uses the same names. */
export const SCRIPT_NAMES: Readonly<Record<Shell, string>> = {
  bash: 'gpucloud.bash',
  zsh: '_gpucloud',
  fish: 'gpucloud.fish',
  powershell: 'gpucloud.ps1',
};
type Env = Readonly<Record<string, string | undefined>>;

/** Returns the path where a shell looks for the script, or undefined without a home folder. */
export function scriptFile(shell: Shell, env: Env): string | undefined {
  const home = absolute(env.HOME) ?? absolute(env.USERPROFILE);
  const inHome = (...parts: string[]) => (home === undefined ? undefined : join(home, ...parts));
  const data = absolute(env.XDG_DATA_HOME) ?? inHome('.local', 'share');
  const under = (folder: string | undefined, ...parts: string[]) =>
    folder === undefined ? undefined : join(folder, ...parts);
  switch (shell) {
    case 'bash': {
      const own = env.BASH_COMPLETION_USER_DIR?.split(':').find(isAbsolute);
      // Names the file after the command, so that bash loads it at the first Tab after that
      // command.
      return under(own ?? under(data, 'bash-completion'), 'completions', 'gpucloud');
    }
    case 'zsh':
      return under(data, 'zsh', 'site-functions', SCRIPT_NAMES.zsh);
    case 'fish': {
      const config = absolute(env.XDG_CONFIG_HOME) ?? inHome('.config');
      return under(config, 'fish', 'completions', SCRIPT_NAMES.fish);
    }
    case 'powershell': {
      const local = absolute(env.LOCALAPPDATA) ?? data;
      return under(local, 'gpucloud', 'completions', SCRIPT_NAMES.powershell);
    }
  }
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
