import { modelOf } from './model.ts';
import type { Place } from './tree.ts';

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

export async function scriptFor(shell: Shell, root: Place): Promise<string> {
  const model = modelOf(root);
  switch (shell) {
    case 'bash':
      return (await import('./bash.ts')).bashScript(model);
    case 'zsh':
      return (await import('./zsh.ts')).zshScript(model);
    case 'fish':
      return (await import('./fish.ts')).fishScript(model);
    case 'powershell':
      return (await import('./powershell.ts')).powershellScript(model);
  }
}

/** The names under which shells look for the scripts, and of the files in completions/. */
export const SCRIPT_NAMES: Readonly<Record<Shell, string>> = {
  bash: 'gpucloud.bash',
  zsh: '_gpucloud',
  fish: 'gpucloud.fish',
  powershell: 'gpucloud.ps1',
};
