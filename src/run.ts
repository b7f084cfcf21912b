import { type AnyCommand, about, BareGroup, CommanderError } from './command-line/command.ts';
import { flagsFor } from './command-line/globals.ts';
import { firstScreen } from './command-line/help.ts';
import { brokenRule, refuseSecret } from './command-line/parse.ts';
import type { Runtime } from './command-line/verb.ts';
import { complete } from './commands/completion/complete.ts';
import { COMPLETE } from './completion/index.ts';
import { leavingOf } from './context/interrupts.ts';
import { type Context, createContext, type Host } from './context.ts';
import { asCliError, usageError } from './errors.ts';
import { warnOfRefusedKey } from './instances/deadlines/unenforced.ts';
import { markBilling } from './instances/read.ts';
import { checkColumns, terminalColumns, wantsColour } from './output/index.ts';
import { createSink } from './output/sink.ts';
import { lacksRoubleSign } from './output/table/rouble.ts';
import { buildProgram } from './program.ts';
import { profileIn, report, wantsJson } from './report.ts';

declare const GPUCLOUD_VERSION: string | undefined;

/** The package version; the bundle contains it. */
export const VERSION = typeof GPUCLOUD_VERSION === 'string' ? GPUCLOUD_VERSION : '0.0.0-source';

/** Runs one command line and returns its exit code (see FAILURES in errors.ts). Never throws. */
export async function run(argv: readonly string[], host: Host): Promise<number> {
  let context: Context | undefined;
  let help = '';
  const width = helpWidth(host);
  const build = (words?: readonly string[]) =>
    buildProgram({
      ...(words === undefined ? {} : { words }),
      runtime,
      version: VERSION,
      write: (text) => {
        help += text;
      },
      width,
      isColoured: (command) =>
        wantsColour(terminalOf(host), host.env, (context?.flags ?? flagsFor(command, host)).color),
    });
  const runtime: Runtime = {
    context(command) {
      context ??= createContext(host, flagsFor(command, host), VERSION);
      checkWords(argv);
      const { view } = about(command);
      if (view !== undefined) checkColumns(view, context.flags);
      return context;
    },
    wholeTree: () => build(),
    rerun(words, changes) {
      return run(words, { ...host, ...changes, endsAtOnce: false });
    },
    report: (error) =>
      report(asCliError(error), { json: true, profile: context?.flags.profile, debug: false }),
  };

  if (argv[0] === COMPLETE) {
    // A Tab prints no error: a half-typed line has many, and the shell shows the line.
    await thrownBy(async () => print(await complete(argv.slice(1), build, host), host));
    return 0;
  }

  const thrown = await thrownBy(async () => {
    await parse(build(argv), argv, runtime, width);
    await print(help, host);
  });
  const refused = thrown && (await thrownBy(() => warnIfRefused(thrown.error, context)));
  const closing = await thrownBy(async () => context?.close());
  const ending = thrown ?? refused ?? closing;
  const failure = ending && (await markBilling(asCliError(ending.error), context?.journal));
  if (failure === undefined) return context?.exitCode ?? 0;
  host.onFailure?.(failure);
  const ctrlC = failure.failure === 'interrupted' ? overCtrlC(host) : '';
  // If the command line can't be parsed, its flags are unknown.
  const colour = context?.flags.color ?? (argv.includes('--no-color') ? false : undefined);
  // Errors stay text at a terminal if only --query implies JSON.
  const isImplied = context?.flags.query !== undefined && host.stderr.isTTY === true;
  const text = report(failure, {
    json: wantsJson(isImplied ? undefined : context?.out.format, argv, host.env),
    profile: context?.flags.profile ?? profileIn(argv),
    debug: context?.flags.debug === true,
    columns: terminalColumns(host.stderr, host.env),
    ascii: lacksRoubleSign(host.env),
    colour: wantsColour(host.stderr, host.env, colour),
  });
  await printToStderr(ctrlC + text, host);
  return failure.exitCode;
}

/** Warns about unenforced deadlines if the service refused the key. */
async function warnIfRefused(error: unknown, context: Context | undefined): Promise<void> {
  if (context?.isKeyRefused !== true) return;
  await warnOfRefusedKey(asCliError(error), context);
}

/** Parses and runs the command. Commander also throws for help and the version. */
async function parse(
  program: AnyCommand,
  argv: readonly string[],
  runtime: Runtime,
  width: number,
): Promise<void> {
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof BareGroup) helpOf(error.group, runtime, width);
    else if (!isHelp(error)) throw error;
  }
}

/** A person who types only a group wants its help; a script lacks a verb. */
function helpOf(group: AnyCommand, runtime: Runtime, width: number): void {
  const { format } = runtime.context(group).out;
  if (format !== 'json' && format !== 'jsonl') {
    const { writeOut } = group.configureOutput();
    if (group.parent === null) writeOut?.(firstScreen(group, width));
    else group.outputHelp();
    return;
  }
  const what = group.parent === null ? 'command' : 'verb';
  const below = group.createHelp().visibleCommands(group);
  const names = below.map((one) => one.name()).join(', ');
  throw usageError(`${group.name()}: a ${what} is missing: ${names}`);
}

function isHelp(error: unknown): boolean {
  const codes = ['commander.helpDisplayed', 'commander.version'];
  return error instanceof CommanderError && codes.includes(error.code);
}

async function thrownBy(work: () => Promise<void>): Promise<{ error: unknown } | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return { error };
  }
}

/**
 * Rejects an API key or a private key among the arguments before anything is sent. Other programs
 * and the shell's history can read arguments. Also rejects bytes that are not UTF-8, since Node
 * replaces them. An instance would get another name, a file another path.
 */
function checkWords(argv: readonly string[]): void {
  for (const [at, word] of argv.entries()) {
    const flag = word.startsWith('-') && word.includes('=') ? word.slice(0, word.indexOf('=')) : '';
    const before = argv[at - 1] ?? '';
    const where = flag || (before.startsWith('--') ? before : `word ${at + 1}`);
    refuseSecret(where, word);
    if (word.includes('\ufffd')) {
      throw brokenRule(where, flag === '' ? word : word.slice(flag.length + 1), 'must be UTF-8');
    }
  }
}

/** Writes help to stdout, since it is the requested result. */
async function print(text: string, host: Host): Promise<void> {
  if (text === '') return;
  const { syncWrite: plain, interrupts } = host;
  await createSink(() => host.stdout, { plain, stop: leavingOf(interrupts) }).write(text);
}

/** A readable width of help. */
const WIDEST = 100;

/** A pipe has no width. */
function helpWidth(host: Host): number {
  return Math.min(terminalOf(host).columns || WIDEST, WIDEST);
}

/** Returns stdout if it may be a terminal, without opening a pipe to check. */
function terminalOf(host: Host): { isTTY?: boolean; columns?: number } {
  return host.syncWrite === undefined ? host.stdout : {};
}

/** A terminal shows `^C` at the cursor, so start the next message on a new line. */
function overCtrlC({ stderr, env }: Host): string {
  return stderr.isTTY === true && env.TERM !== 'dumb' ? '\r\u001b[K' : '';
}

async function printToStderr(text: string, host: Host): Promise<void> {
  if (text === '') return;
  try {
    await createSink(() => host.stderr, { stop: leavingOf(host.interrupts) }).write(text);
  } catch {
    // stderr is closed, so only the exit code reports the outcome.
  }
}
