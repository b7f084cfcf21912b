import type { Clock } from '../../clock.ts';
import { CliError } from '../../errors.ts';
import type { Piped } from '../../programs.ts';
import { afterLine } from './after-line.ts';
import { isCut, lastLine } from './failed-ssh.ts';
import { type CommandEnd, readFrames } from './frames.ts';
import { lastOf, type RemoteShell } from './remote-shell.ts';
import { FOLLOW, FOLLOWING, OFFSETS } from './supervisor.ts';

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
  /** Stops at the end of what was printed so far. */
  readonly isOnce?: boolean;
  /** Stops following; the command continues. */
  readonly signal: AbortSignal;
  print(from: 'out' | 'err', bytes: Uint8Array): Promise<void>;
  /** Reports a failed attempt; throws if another one is useless. */
  onCut(cut: Cut): Promise<void>;
  /** Reports that the link is back. */
  onBack(): void;
}

/** An attempt to follow that failed. */
export interface Cut {
  /** The last line of ssh. */
  readonly reason: string;
  /** The link was not cut before. */
  readonly isFirst: boolean;
  /** No attempt since then had this reason. */
  readonly isNew: boolean;
}

/** Milliseconds between two attempts: from the first, doubling up to the second. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [1_000, 15_000];

/**
 * Follows the outputs of the command to its end. A cut link neither ends the command nor repeats a
 * byte: the next connection continues at the offsets.
 */
export async function follow(following: Following): Promise<CommandEnd> {
  const { clock, signal, onCut, onBack } = following;
  let pause = FIRST_PAUSE;
  const reasons = new Set<string>();
  for (;;) {
    const { end, begun, reason } = await followOnce(following, () => {
      if (reasons.size > 0) onBack();
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
    // ssh is missing while it is upgraded, or there are too many processes: neither ends the command.
    signal.throwIfAborted();
    if (!(error instanceof CliError)) throw error;
    return { end: undefined, begun, reason: error.message };
  }
  try {
    running.stdin.end();
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
    // Ignores the rest of the connection.
    if (end !== undefined) return { end, begun, reason: '' };
    const reason = lastLine(await words);
    return { end, begun, reason };
  } finally {
    running.kill();
    running.stdout.destroy();
  }
}

async function* begunBy(chunks: AsyncIterable<Uint8Array>, onBegin: () => void) {
  let begun = false;
  for await (const chunk of chunks) {
    if (!begun) onBegin();
    begun = true;
    yield chunk;
  }
}

function garbled(cause: RangeError): CliError {
  return new CliError(
    'notUnderstood',
    `The output of the command could not be read: ${cause.message}.`,
    { cause },
  );
}

/** Where the last bytes (`-c`) or lines (`-n`) of each output begin. Throws CliError. */
export async function offsetsOf(
  shell: RemoteShell,
  [unit, count]: readonly ['-c' | '-n', number],
  signal: AbortSignal,
): Promise<Offsets> {
  const running = await shell.start(OFFSETS, [unit, String(count)], signal);
  running.stdin.end();
  const [printed, words, code] = await Promise.all([
    lastOf(running.stdout),
    lastOf(running.stderr),
    running.ended,
  ]);
  signal.throwIfAborted();
  const [out, err] = ['out', 'err'].map(
    (from) => new RegExp(`^gpucloud-run ${from} (\\d+)$`, 'm').exec(printed)?.[1],
  );
  if (out !== undefined && err !== undefined) return { out: Number(out), err: Number(err) };
  const reason = lastLine(words) || `exit code ${code}`;
  throw new CliError('refused', `Could not read the output: ${reason}`, {
    retryable: isCut(code, words),
  });
}
