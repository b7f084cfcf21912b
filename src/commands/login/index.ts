import { usageError } from '../../errors.ts';
import type { AnyCommand } from '../kit/command.ts';
import { Option } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { describe } from '../kit/verb.ts';
import { login } from './login.ts';

/** `gpucloud login`: a verb of the root. */
export function registerLogin(command: AnyCommand, frame: Frame): void {
  describe(command, {
    summary: 'Sign in with an API key and keep it in a profile',
    notes:
      'The key is proved with the service before anything is stored, and is never taken from the command line. In a terminal, what is missing is asked for.',
    examples: [
      'gpucloud login --base-url https://api.example.com',
      'gpucloud login --profile work --key-file ./key.txt',
      'pass show gpucloud | gpucloud login --base-url https://api.example.com --key-stdin',
    ],
  })
    .option('--key-stdin', 'read the key from stdin')
    .option('--key-file <file>', 'read the key from a file')
    .addOption(refused('--key <key>'))
    .addOption(refused('--api-key <key>'))
    .allowExcessArguments()
    .action(async ({ keyStdin, keyFile }, own) => {
      if (own.args.length > 0) {
        throw keyOnCommandLine('login takes no argument');
      }
      if (keyStdin === true && keyFile !== undefined) {
        throw usageError(
          '--key-stdin and --key-file: a key comes from one place; give one of them',
        );
      }
      await login({ keyStdin: keyStdin === true, keyFile }, frame.context(own));
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
    'give it with --key-stdin or --key-file FILE, and the name of a profile with --profile NAME',
  );
}
