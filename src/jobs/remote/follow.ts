import { CliError, ensureCliError } from '../../errors.ts';
import type { Clock } from '../../system/clock.ts';
import type { Piped } from '../../system/programs.ts';
import { afterLine } from './after-line.ts';
import { lastLine, scriptFailed } from './failed-ssh.ts';
import { type CommandEnd, readFrames } from './frames.ts';
import { lastOf, type RemoteShell } from './remote-shell.ts';
import { FOLLOW, FOLLOWING, GONE, OFFSETS } from './supervisor.ts';

/** Bytes of each output printed so far. */
export interface Offsets {
  out: number;
  err: number;
}

export interface Following {
  readonly shell: RemoteShell;
  /** Advances as bytes are printed. */
  readonly offsets: Offsets;
  readonly clock: Clock;
  /** Stops at the end of the current output. */
  readonly isOnce?: boolean;
  /** Stops following; the command continues. */
  readonly signal: AbortSignal;
  print(from: 'out' | 'err', bytes: Uint8Array): Promise<void>;
  /** Reports a failed attempt. Throws if a retry can't succeed. */
  onCut(cut: Cut): Promise<void>;
  /** Reports that the connection is restored. */
  onBack?(): void;
}

/** A failed attempt to follow. */
export interface Cut {
  /** The last line of ssh's output. */
  readonly reason: string;
  /** Whether this is the first failure since the last connection. */
  readonly isFirst: boolean;
  /** Whether this reason is new since the last connection. */
  readonly isNew: boolean;
}

/** The first and the longest pause between two attempts, in milliseconds. The pause doubles in between. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [1_000, 15_000];

/**
 * Follows the command's outputs to the end. A lost connection neither stops the command nor repeats
 * a byte: the next connection continues at the offsets.
 */
export async function follow(following: Following): Promise<CommandEnd> {
  const { clock, signal, onCut, onBack } = following;
  let pause = FIRST_PAUSE;
  const reasons = new Set<string>();
  for (;;) {
    const { end, begun, reason } = await followOnce(following, () => {
      if (reasons.size > 0) onBack?.();
      reasons.clear();
    });
    if (end !== undefined) return end;
    signal.throwIfAborted();
    if (begun) pause = FIRST_PAUSE;
    await onCut({ reason, isFirst: reasons.size === 0, isNew: !reasons.has(reason) });
    reasons.add(reason);
    await clock.sleep(pause, signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

interface Attempt {
  readonly end: CommandEnd | undefined;
  readonly begun: boolean;
  readonly reason: string;
}

async function followOnce(
  { shell, offsets, isOnce = false, signal, print }: Following,
  onBegin: () => void,
): Promise<Attempt> {
  const at = [String(offsets.out), String(offsets.err), ...(isOnce ? ['once'] : [])];
  let begun = false;
  let running: Piped;
  try {
    running = await shell.start(FOLLOW, at, signal);
  } catch (error) {
    // ssh can't start during its upgrade, or with too many processes. The command continues.
    ensureCliError(error);
    return { end: undefined, begun, reason: error.message };
  }
  try {
    const words = lastOf(running.stderr);
    const frames = begunBy(afterLine(running.stdout, FOLLOWING), () => {
      begun = true;
      onBegin();
    });
    const end = await readFrames(frames, {
      async onBytes(from, bytes) {
        await print(from, bytes);
        offsets[from] += bytes.length;
      },
    }).catch((error: unknown) => {
      throw error instanceof RangeError ? garbled(error) : error;
    });
    if (end !== undefined) return { end, begun, reason: '' };
    const reason = lastLine(await words);
    return { end, begun, reason };
  } finally {
    running.kill();
    running.stdout.destroy();
  }
}

async function* begunBy(chunks: AsyncIterable<Uint8Array>, onBegin: () => void) {
  for await (const chunk of chunks) {
    onBegin();
    yield chunk;
  }
}

function garbled(cause: RangeError): CliError {
  return new CliError(
    'notUnderstood',
    `Could not read the output of the command: ${cause.message}.`,
    { cause },
  );
}

/** Returns the offset of the last bytes (`-c`) or lines (`-n`) of each output. Throws CliError. */
export async function offsetsOf(
  shell: RemoteShell,
  [unit, count]: readonly ['-c' | '-n', number],
  signal: AbortSignal,
): Promise<Offsets> {
  const printed = await shell.run(OFFSETS, signal, { args: [unit, String(count)] });
  const [out, err] = ['out', 'err'].map(
    (from) => new RegExp(`^gpucloud-run ${from} (\\d+)$`, 'm').exec(printed.stdout)?.[1],
  );
  if (out !== undefined && err !== undefined) return { out: Number(out), err: Number(err) };
  if (printed.stdout.split('\n').includes(GONE)) {
    throw new CliError('notFound', "The command's output is no longer on the instance.");
  }
  throw scriptFailed('Could not read the output', printed);
}
