import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { oneOf } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import { SHELLS, type Shell, scriptFor } from '../../completion/index.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/output.ts';
import { type Installed, install } from './install.ts';
import { placeOf } from './tree.ts';

/** `gpucloud completion`: a verb of the root. */
export function registerCompletion(command: AnyCommand, frame: Frame): void {
  describe(command, {
    notes:
      'Prints the script of a shell, or puts it where the shell looks for it (--install). Tab knows\n' +
      'commands, flags, their values, and the names of machines, drives, keys, templates, offers,\n' +
      'images and profiles that commands have seen. It starts no process and asks no service.',
    examples: [
      'gpucloud completion bash --install',
      'source <(gpucloud completion bash)',
      'gpucloud completion zsh --install',
      'gpucloud completion fish | source',
      'gpucloud completion powershell | Out-String | Invoke-Expression',
    ],
    view: completionView,
  })
    .argument('<shell>', SHELLS.join(', '), oneOf('SHELL', SHELLS))
    .option('--install', 'write the script to the folder where the shell looks for it')
    .action(async (shell, flags, own) => {
      const context = frame.context(own);
      const script = await scriptFor(shell, placeOf(await frame.wholeTree()));
      await (flags.install === true
        ? putInPlace(shell, script, context)
        : print(shell, script, context));
    });
}

/** One row for both: a script that is printed stands in no file. */
interface Completion {
  readonly shell: Shell;
  readonly file: string | null;
  readonly changed: boolean | null;
  readonly script?: string;
}

const completionView: View<Completion> = {
  columns: [
    { id: 'shell', header: 'SHELL', value: (row) => row.shell },
    { id: 'file', header: 'FILE', value: (row) => row.file },
    { id: 'changed', header: 'CHANGED', kind: 'yes', value: (row) => row.changed },
    { id: 'script', header: 'SCRIPT', value: (row) => row.script, hidden: true },
  ],
  id: (row) => row.file,
  empty: '',
};

async function print(shell: Shell, script: string, { out }: Context): Promise<void> {
  await (out.format === 'table'
    ? out.text(script)
    : out.item({ shell, file: null, changed: null, script }, completionView));
}

async function putInPlace(shell: Shell, script: string, context: Context): Promise<void> {
  const installed: Installed = await install(shell, script, context);
  const { file, changed, advice } = installed;
  context.err.note(changed ? `Written: ${file}` : `Up to date: ${file}`);
  for (const line of advice) {
    context.err.note(line);
  }
  await context.out.item({ shell, file, changed }, completionView);
}
