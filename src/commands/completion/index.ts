import { isFormatGiven } from '../../cli/globals.ts';
import { oneOf } from '../../cli/parse.ts';
import { action } from '../../cli/verb.ts';
import { SHELLS, type Shell, scriptFor } from '../../completion/index.ts';
import type { View } from '../../output/output.ts';
import { install } from './install.ts';
import { placeOf } from './tree.ts';

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

/** `gpucloud completion`: a verb of the root. */
export const completion = action({
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
  takes: (command) =>
    command
      .argument('<shell>', SHELLS.join(', '), oneOf('SHELL', SHELLS))
      .option('--install', 'write the script to the folder where the shell looks for it'),
  async run(context, shell, flags, { runtime }) {
    const { out, err } = context;
    const script = await scriptFor(shell, placeOf(await runtime.wholeTree()));
    if (flags.install === true) {
      const { file, changed, advice } = await install(shell, script, context);
      err.note(changed ? `Written: ${file}` : `Up to date: ${file}`);
      for (const line of advice) err.note(line);
      await out.item({ shell, file, changed }, completionView);
    } else if (!isFormatGiven(context.flags) || out.format === 'table') {
      await out.text(script);
    } else {
      await out.item({ shell, file: null, changed: null, script }, completionView);
    }
  },
});
