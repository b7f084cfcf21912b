import { type AnyCommand, CommanderError, viewOf } from './commands/kit/command.ts';
import type { Frame } from './commands/kit/frame.ts';
import { globalFlagsOf } from './commands/kit/globals.ts';
import { type Context, createContext, type Host } from './context.ts';
import { CliError, SeveralErrors, usageError } from './errors.ts';
import { checkColumns, clean, escapeUnseen } from './output/index.ts';
import { createSink } from './output/sink.ts';
import { addAllVerbs, buildProgram } from './program.ts';

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
  const build = () =>
    buildProgram({
      frame,
      version: VERSION,
      write: (text) => {
        shown += text;
      },
      width: helpWidth(host),
    });
  const frame: Frame = {
    context(command) {
      context ??= createContext(host, globalFlagsOf(command), VERSION);
      const view = viewOf(command);
      if (view !== undefined) checkColumns(view, context.flags);
      return context;
    },
    async wholeTree() {
      const program = build();
      await addAllVerbs(program, frame);
      return program;
    },
  };

  const failure =
    (await failureOf(() => parse(build(), argv))) ??
    (await failureOf(() => createSink(host.stdout).write(shown)));
  const closing = await failureOf(async () => context?.close());
  const told = failure ?? closing;
  const json = wantsJson(context, argv, host.env);
  await tell(json ? jsonReport(told, context?.warnings ?? []) : textReport(told), host);
  return told?.exitCode ?? 0;
}

/** Parses and acts; help and the version come back from commander as errors and are none. */
async function parse(program: AnyCommand, argv: readonly string[]): Promise<void> {
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!isHelp(error)) throw error;
  }
}

async function failureOf(work: () => Promise<void>): Promise<CliError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return asCliError(error);
  }
}

/** Help is read best in lines that are not too long; a pipe has no width. */
function helpWidth({ stdout }: Host): number {
  const width = stdout.columns ?? 0;
  return width > 0 ? Math.min(width, 120) : 100;
}

/** A bare group counts too: its help is what was meant. */
function isHelp(error: unknown): boolean {
  return (
    error instanceof CommanderError &&
    ['commander.help', 'commander.helpDisplayed', 'commander.version'].includes(error.code)
  );
}

function asCliError(error: unknown): CliError {
  if (error instanceof CliError) {
    return error;
  }
  if (error instanceof CommanderError) {
    return usageError(wordsOfCommander(error.message));
  }
  const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new CliError('refused', `Something unexpected happened: ${words}`, {
    hint: 'this is a fault of gpucloud itself; run the command with --debug and report what it prints',
    cause: error,
  });
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
  const last = words.findLastIndex((word) => word === '-o' || word === '--output');
  const asked =
    words.findLast((word) => word.startsWith('--output='))?.slice('--output='.length) ??
    (last < 0 ? env.GPUCLOUD_OUTPUT : words[last + 1]);
  return words.includes('--json') || asked === 'json' || asked === 'jsonl';
}

async function tell(text: string, host: Host): Promise<void> {
  if (text === '') {
    return;
  }
  try {
    await createSink(host.stderr).write(text);
  } catch {
    // stderr itself is gone: the exit code is all that is left to tell.
  }
}

/** One object at most: the error, and what else a person would have been warned of. */
function jsonReport(failure: CliError | undefined, warnings: readonly string[]): string {
  if (failure === undefined && warnings.length === 0) {
    return '';
  }
  const report = {
    ...(failure === undefined ? {} : { error: errorObject(failure) }),
    ...(warnings.length === 0 ? {} : { warnings: warnings.map(withoutKeys) }),
  };
  return `${escapeUnseen(JSON.stringify(report))}\n`;
}

function textReport(failure: CliError | undefined): string {
  return failure === undefined ? '' : errorLines(failure);
}

/** The JSON form of an error: a contract with scripts. */
function errorObject(failure: CliError): Record<string, unknown> {
  return {
    code: failure.code,
    message: withoutKeys(failure.message),
    http_status: failure.httpStatus ?? null,
    hint: failure.hint === undefined ? null : withoutKeys(failure.hint),
    retryable: failure.retryable,
    resource: failure.resource ?? null,
    may_be_billing: failure.mayBeBilling,
    ...(failure instanceof SeveralErrors ? { errors: failure.errors.map(errorObject) } : {}),
  };
}

function errorLines(failure: CliError): string {
  if (failure instanceof SeveralErrors) {
    return failure.errors.map(errorLines).join('');
  }
  const message = clean(withoutKeys(failure.message));
  if (failure.hint === undefined) {
    return `error: ${message}\n`;
  }
  const hint = clean(withoutKeys(failure.hint));
  // What was typed wrong is told on one line; what happened elsewhere deserves a second.
  return failure.failure === 'usage'
    ? `error: ${message} (${hint})\n`
    : `error: ${message}\nhint: ${hint}\n`;
}

/** A key that someone typed as an argument is not repeated on the screen or into a log. */
function withoutKeys(text: string): string {
  return text
    .replace(/svc_sk_[A-Za-z0-9_-]+/g, 'svc_sk_…')
    .replace(/-----BEGIN[\s\S]*/, '-----BEGIN …');
}
