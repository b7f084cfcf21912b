import { type AnyCommand, about, BareGroup, CommanderError } from './cli/command.ts';
import type { Frame } from './cli/frame.ts';
import { flagsFor } from './cli/globals.ts';
import { refuseSecret } from './cli/parse.ts';
import { type Context, createContext, type Host } from './context.ts';
import { CliError, unforeseen, unforeseenIn, usageError } from './errors.ts';
import { checkColumns } from './output/index.ts';
import { createSink } from './output/sink.ts';
import { addAllVerbs, buildProgram } from './program.ts';
import { jsonReport, textReport } from './report.ts';

declare const GPUCLOUD_VERSION: string | undefined;

/** The version of the package; the bundle has it built in. */
export const VERSION = typeof GPUCLOUD_VERSION === 'string' ? GPUCLOUD_VERSION : '0.0.0-source';

/**
 * Runs one command line and answers its exit code (see FAILURES in errors.ts). This is the one
 * place where an error becomes words; nothing is thrown to the caller.
 */
export async function run(argv: readonly string[], host: Host): Promise<number> {
  let context: Context | undefined;
  let shown = '';
  const build = (words?: readonly string[]) =>
    buildProgram({
      ...(words === undefined ? {} : { words }),
      frame,
      version: VERSION,
      write: (text) => {
        shown += text;
      },
      width: helpWidth(host),
    });
  const frame: Frame = {
    context(command) {
      context ??= createContext(host, flagsFor(command, host), VERSION);
      refuseKeys(argv);
      const { view } = about(command);
      if (view !== undefined) checkColumns(view, context.flags);
      return context;
    },
    async wholeTree() {
      const program = build();
      await addAllVerbs(program, frame);
      return program;
    },
    again(words, changes) {
      // Every run listens for the end of its streams for as long as the process lives.
      for (const stream of [host.stdout, host.stderr]) stream.setMaxListeners(0);
      // What is watched is the stdout of the process, and no other.
      const own = changes.stdout === undefined ? {} : { watchReader: undefined };
      return run(words, { ...host, ...changes, ...own, endsAtOnce: false });
    },
  };

  const failure =
    (await failureOf(() => parse(build(argv), argv, frame))) ??
    (await failureOf(() => print(shown, host)));
  const closing = await failureOf(async () => context?.close());
  const told = failure ?? closing;
  const json = wantsJson(context, argv, host.env);
  const profile = context?.flags.profile;
  const report = json
    ? jsonReport(told, context?.warnings ?? [], profile)
    : textReport(told, profile);
  const frames = context?.flags.debug === true ? framesOf(told) : '';
  await tell(`${told?.failure === 'interrupted' ? overCtrlC(host) : ''}${frames}${report}`, host);
  return told?.exitCode ?? context?.exitCode ?? 0;
}

/** What stderr says of a fault that the run itself did not hear of. */
export function faultReport(fault: Error, argv: readonly string[], env: Host['env']): string {
  const told = asCliError(fault);
  const frames = argv.includes('--debug') ? framesOf(told) : '';
  const report = wantsJson(undefined, argv, env)
    ? jsonReport(told, [], undefined)
    : textReport(told, undefined);
  return `${frames}${report}`;
}

/** Parses and acts; help and the version come back from commander as errors and are none. */
async function parse(program: AnyCommand, argv: readonly string[], frame: Frame): Promise<void> {
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof BareGroup) {
      helpOf(error.group, frame);
    } else if (!isHelp(error)) {
      throw error;
    }
  }
}

/** A person who types a bare group wants its help; a program that does so has lost a verb. */
function helpOf(group: AnyCommand, frame: Frame): void {
  const { format } = frame.context(group).out;
  if (format !== 'json' && format !== 'jsonl') {
    group.outputHelp();
    return;
  }
  const what = group.parent === null ? 'command' : 'verb';
  const names = group
    .createHelp()
    .visibleCommands(group)
    .map((one) => one.name());
  throw usageError(`${group.name()}: a ${what} is missing: ${names.join(', ')}`);
}

async function failureOf(work: () => Promise<void>): Promise<CliError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return asCliError(error);
  }
}

/**
 * A key of the service or a private key among the words is refused before anything is sent, be it a
 * name, an id or a value of a container: other programs and the shell's history see the words.
 */
function refuseKeys(argv: readonly string[]): void {
  for (const [at, word] of argv.entries()) {
    const flag = word.startsWith('-') && word.includes('=') ? word.slice(0, word.indexOf('=')) : '';
    const before = argv[at - 1] ?? '';
    refuseSecret(flag || (before.startsWith('--') ? before : `word ${at + 1}`), word);
  }
}

/** Writes help, which is all there is when it was asked for. */
async function print(text: string, host: Host): Promise<void> {
  if (text === '') return;
  const { plainOut: plain, interrupts } = host;
  await createSink(() => host.stdout, { plain, stop: interrupts.second }).write(text);
}

/** Help is read best in lines that are not too long; a pipe has no width. */
function helpWidth(host: Host): number {
  const width = host.plainOut === undefined ? (host.stdout.columns ?? 0) : 0;
  return width > 0 ? Math.min(width, 120) : 100;
}

function isHelp(error: unknown): boolean {
  return (
    error instanceof CommanderError &&
    ['commander.helpDisplayed', 'commander.version'].includes(error.code)
  );
}

/** Where in the program something unexpected happened, for whoever mends it. */
function framesOf(told: CliError | undefined): string {
  // What stands above the frames is the message, which the report tells in its own way.
  const lines = (unforeseenIn(told)?.stack ?? '').split('\n').filter((line) => /^ +at /.test(line));
  return lines.map((line) => `${line}\n`).join('');
}

function asCliError(error: unknown): CliError {
  if (error instanceof CliError) {
    return error;
  }
  if (error instanceof CommanderError) {
    return usageError(wordsOfCommander(error.message));
  }
  return unforeseen(error);
}

/** One line, and without what was given to a flag that does not exist: it may be a secret. */
function wordsOfCommander(message: string): string {
  return message
    .replace(/^error: /, '')
    .replace(/(unknown option '[^'=]+)=[^']*'/, "$1'")
    .replaceAll('\n', ' ');
}

/**
 * In a JSON mode the error itself is JSON. Where the command line could not be read at all, its
 * words are looked at instead.
 */
function wantsJson(
  context: Context | undefined,
  argv: readonly string[],
  env: Host['env'],
): boolean {
  if (context !== undefined) {
    return context.out.format === 'json' || context.out.format === 'jsonl';
  }
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const asked = words.flatMap((word, at) => {
    if (word === '--json') return ['json'];
    if (word === '--output') return [words[at + 1]];
    if (word.startsWith('--')) return word.startsWith('--output=') ? [word.slice(9)] : [];
    // `-o json`, `-ojson`, and both after switches: `-yojson`.
    const short = /^-[a-zA-Z]*?o(.*)$/.exec(word);
    return short === null ? [] : [short[1]?.replace(/^=/, '') || words[at + 1]];
  });
  const formats = asked.length === 0 ? [env.GPUCLOUD_OUTPUT] : asked;
  return formats.some((format) => format === 'json' || format === 'jsonl');
}

/** A terminal shows `^C` where the cursor stands; neither our words nor the shell's follow it. */
function overCtrlC({ stderr, env }: Host): string {
  return stderr.isTTY === true && env.TERM !== 'dumb' ? '\r\u001b[K' : '';
}

async function tell(text: string, host: Host): Promise<void> {
  if (text === '') {
    return;
  }
  try {
    await createSink(() => host.stderr, { stop: host.interrupts.second }).write(text);
  } catch {
    // stderr itself is gone: the exit code is all that is left to tell.
  }
}
