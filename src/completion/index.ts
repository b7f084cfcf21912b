import { isAbsolute, join } from 'node:path';
import { modelOf } from './model.ts';
import { bashScript } from './shells/bash.ts';
import { fishScript } from './shells/fish.ts';
import { powershellScript } from './shells/powershell.ts';
import { zshScript } from './shells/zsh.ts';
import type { Place } from './tree.ts';

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

export async function scriptFor(shell: Shell, root: Place): Promise<string> {
  const model = modelOf(root);
  switch (shell) {
    case 'bash':
      return bashScript(model);
    case 'zsh':
      return zshScript(model);
    case 'fish':
      return fishScript(model);
    case 'powershell':
      return powershellScript(model);
  }
}

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
