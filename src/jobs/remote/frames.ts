import type { JobGpu } from '../../json-results/jobs.ts';
import { gpuIn } from './gpu-sample.ts';

/** Receives the frames that the follower on the instance sends; see supervisor.ts. */
export interface FrameListener {
  /** Bytes of one output stream. Waits until the bytes are written before reading more. */
  onBytes(from: 'out' | 'err', bytes: Uint8Array): Promise<void>;
}

/**
 * The command's exit code; `undefined` if its supervisor stored no exit code, or if the command
 * still runs.
 */
export interface CommandEnd {
  readonly exitCode: number | undefined;
  readonly isRunning?: true;
  /** The instance's disk was full at the end, so the output may be incomplete. */
  readonly isDiskFull?: true;
  /** How the command has used the cards; undefined without a sample. */
  readonly gpu?: JobGpu;
  /** How long the setup and the command ran; undefined if the supervisor did not store it. */
  readonly took?: Took;
}

/** Seconds by the instance's clock. */
export interface Took {
  readonly setup: number;
  readonly command: number;
}

/** Longest line that the follower sends. */
const LONGEST_LINE = 100;

/**
 * Reads frames until the command's end; undefined if the stream ends first.
 *
 * @throws RangeError for a stream that a follower did not send.
 */
export async function readFrames(
  chunks: AsyncIterable<Uint8Array>,
  { onBytes }: FrameListener,
): Promise<CommandEnd | undefined> {
  let line = '';
  let frame: BytesFrame = { from: 'out', left: 0 };
  let facts: Facts = {};
  for await (const chunk of chunks) {
    let rest = chunk;
    while (rest.length > 0) {
      if (frame.left > 0) {
        const bytes = rest.subarray(0, frame.left);
        await onBytes(frame.from, bytes);
        frame = { ...frame, left: frame.left - bytes.length };
        rest = rest.subarray(bytes.length);
        continue;
      }
      const end = rest.indexOf(0x0a);
      line += Buffer.from(end < 0 ? rest : rest.subarray(0, end)).toString('latin1');
      if (line.length > LONGEST_LINE) throw new RangeError('a line is too long');
      if (end < 0) break;
      rest = rest.subarray(end + 1);
      const isFact = /^[gt] /.test(line);
      if (isFact) facts = { ...facts, ...factIn(line) };
      else {
        const next = parseFrame(line);
        if ('exitCode' in next) return { ...next, ...facts };
        frame = next;
      }
      line = '';
    }
  }
  return undefined;
}

type Facts = Pick<CommandEnd, 'gpu' | 'took'>;

/** Ignores what the instance's tools may have printed instead. */
function factIn(line: string): Facts {
  const gpu = line.startsWith('g ') ? gpuIn(line.slice(2)) : null;
  if (gpu !== null) return { gpu };
  const [, setup, command] = /^t (\d{1,9}) (\d{1,9})$/.exec(line) ?? [];
  if (setup === undefined) return {};
  return { took: { setup: Number(setup), command: Number(command) } };
}

interface BytesFrame {
  readonly from: 'out' | 'err';
  readonly left: number;
}

function parseFrame(line: string): BytesFrame | CommandEnd {
  if (line === '.') return { from: 'out', left: 0 };
  if (line === 'x lost') return { exitCode: undefined };
  if (line === 'x now') return { exitCode: undefined, isRunning: true };
  const [, letter, number, full] = /^([oex]) ([0-9]{1,12})( full)?$/.exec(line) ?? [];
  if (letter === undefined) throw new RangeError(`an unknown frame: ${line}`);
  if (letter === 'x') {
    return { exitCode: Number(number), ...(full === undefined ? {} : { isDiskFull: true }) };
  }
  return { from: letter === 'o' ? 'out' : 'err', left: Number(number) };
}
