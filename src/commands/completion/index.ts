import { basename } from 'node:path';
import { Option } from '../../command-line/command.ts';
import { isFormatGiven } from '../../command-line/globals.ts';
import { oneOf } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import { SHELLS, type Shell } from '../../completion/index.ts';
import { SCRIPTS } from '../../completion/scripts.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { CompletionScript } from '../../json-results/local.ts';
import { field, type View } from '../../output/output.ts';
import { install, uninstall } from './install.ts';

const completionView: View<CompletionScript> = {
  columns: [
    field('shell', 'SHELL'),
    field('file', 'FILE'),
    field('changed', 'CHANGED', { kind: 'yes' }),
    field('script', 'SCRIPT', { hidden: true }),
  ],
  id: (row) => row.file,
  empty: '',
};

export const completion = verb({
  summary: 'Set up Tab completion for your shell',
  notes:
    'Prints a completion script, or installs it with --install. Tab completes commands, flags, ' +
    'values and known names, without sending requests. gpucloud must be on PATH.\n\n' +
    'If bash or zsh does not load the installed script, --install adds a line to the startup ' +
    'file. --uninstall removes the script and the line.\n\n' +
    'For an alias, add this line to the startup file (bash: after loading the script):\n\n' +
    '  bash        alias g=gpucloud; complete -F _gpucloud g\n' +
    '  zsh         alias g=gpucloud\n' +
    '  fish        alias g gpucloud\n' +
    '  powershell  Set-Alias g gpucloud',
  examples: [
    'gpucloud completion --install',
    'source <(gpucloud completion bash)',
    'gpucloud completion zsh --install',
    'gpucloud completion fish | source',
    'gpucloud completion bash --uninstall',
    'gpucloud completion powershell | Out-String | Invoke-Expression',
  ],
  view: completionView,
  takes: (command) =>
    command
      .argument(
        '[shell]',
        `${SHELLS.join(', ')} (default with --install: your $SHELL)`,
        oneOf('SHELL', SHELLS),
      )
      .option('--install', "install the script in the shell's completion folder")
      .addOption(new Option('--uninstall', 'remove the installed script').conflicts('install')),
  async run(context, typed, flags) {
    const { out } = context;
    const writes = flags.install === true || flags.uninstall === true;
    const shell = typed ?? (writes ? shellOf(context) : undefined);
    if (shell === undefined) {
      throw usageError('missing argument: shell', 'usage: gpucloud completion <shell>');
    }
    if (flags.uninstall === true) {
      return out.item({ shell, ...(await uninstall(shell, context)) }, completionView);
    }
    const script = SCRIPTS[shell];
    if (flags.install !== true) {
      const { query, columns } = context.flags;
      const isDefault = out.format === 'table' || !isFormatGiven(context.flags);
      // A script has no ID.
      return out.format === 'id' || (isDefault && (query ?? columns) === undefined)
        ? out.text(script)
        : out.item({ shell, file: null, changed: null, script }, completionView);
    }
    if (typed === undefined) {
      const other = shell === 'bash' ? 'zsh' : 'bash';
      context.err.note(
        `Chose ${shell}, since $SHELL is ${context.env.SHELL}. For another shell, name it: gpucloud completion ${other} --install`,
      );
    }
    // Ends with the lines to paste.
    const { file, changed } = await install(shell, script, context);
    if (out.people && out.terminal) return;
    return out.item({ shell, file, changed }, completionView);
  },
});

/** Returns the user's shell by `$SHELL`. */
function shellOf({ env }: Context): Shell {
  const program = basename(env.SHELL ?? '');
  const name = program === 'pwsh' ? 'powershell' : program;
  const known = SHELLS.find((shell) => shell === name);
  if (known !== undefined) return known;
  throw usageError(`unsupported $SHELL "${env.SHELL ?? ''}": use one of ${SHELLS.join(', ')}`);
}
