import type { AnyCommand } from '../../cli/command.ts';
import { Option } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { oneOf, ruled } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import { STORES } from '../../config/key.ts';
import { usageError } from '../../errors.ts';
import { commandWords } from '../../rules/words.ts';
import { login } from './login.ts';

/** `gpucloud login`: a verb of the root. */
export function registerLogin(command: AnyCommand, frame: Frame): void {
  describe(command, {
    notes:
      'The key is proved with the service before anything is stored, and is never taken from the command line. In a terminal, what is missing is asked for.\n\n' +
      'It rests in the keyring of the system where there is one (with the optional part @napi-rs/keyring), else in a file that only you may read. With --key-command nothing is stored: each command asks your password manager, whose first line is the key.',
    completes: { '--key-command': 'nothing' },
    examples: [
      'gpucloud login --base-url https://api.example.com',
      'gpucloud login --profile work --key-file ./key.txt',
      'gpucloud login --base-url https://api.example.com --key-command "pass show gpucloud"',
      'pass show gpucloud | gpucloud login --base-url https://api.example.com --key-stdin',
    ],
  })
    .option('--key-stdin', 'read the key from stdin')
    .option('--key-file <file>', 'read the key from a file')
    .option(
      '--key-command <command>',
      'have this command print the key, now and for each command; no shell reads it',
      ruled('--key-command', commandWords),
    )
    .option(
      '--store <place>',
      `where the key rests: ${STORES.join(', ')}`,
      oneOf('--store', STORES),
    )
    .addOption(refused('--key <key>'))
    .addOption(refused('--api-key <key>'))
    .allowExcessArguments()
    .action(async ({ keyStdin, keyFile, keyCommand, store }, own) => {
      if (own.args.length > 0) {
        throw keyOnCommandLine('login takes no argument');
      }
      const sources = [keyStdin, keyFile, keyCommand].filter((source) => source !== undefined);
      if (sources.length > 1) {
        throw usageError(
          '--key-stdin, --key-file and --key-command: a key comes from one place; give one of them',
        );
      }
      if ((store === 'command') !== (keyCommand !== undefined) && store !== undefined) {
        throw usageError(
          store === 'command'
            ? '--store command: which one is missing: --key-command COMMAND'
            : `--store ${store} and --key-command: the command keeps the key, so it is not stored`,
        );
      }
      await login({ keyStdin: keyStdin === true, keyFile, keyCommand, store }, frame.context(own));
    });
}

/** Flags that people will try; their value is refused and not repeated. */
function refused(flags: string) {
  return new Option(flags).hideHelp().argParser((): never => {
    throw keyOnCommandLine(flags.split(' ')[0] ?? flags);
  });
}

function keyOnCommandLine(what: string) {
  return usageError(
    `${what}: a key is not taken from the command line, where other programs and the shell's history see it`,
    'give it with --key-stdin, --key-file FILE or --key-command COMMAND, and the name of a profile with --profile NAME',
  );
}
