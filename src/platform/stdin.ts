import { fstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import type { Readable } from 'node:stream';

/**
 * Calls back once if stdin has data that the command won't read. Never blocks, and consumes nothing
 * that another process may read, such as the loop in `while read name; do gpucloud ...; done
 * <names`.
 *
 * @param open opens the stream.
 */
export function onStdinData(open: () => Readable, found: () => void): void {
  const stat = statOfStdin();
  const isPipe = stat?.isFIFO() || stat?.isSocket();
  if (stat === undefined || !(isPipe || stat.isFile())) return;
  const isShared = isOfParent();
  if (isShared) return;
  // On Linux the pipe must be read, since Linux reports a pipe's size as 0.
  if (stat.size > 0) found();
  else if (isPipe && isShared === false) {
    const stdin = open();
    stdin.on('error', () => undefined);
    stdin.once('readable', () => {
      // read() returns null at the end of an empty pipe.
      if (stdin.read() !== null) found();
    });
  }
}

function statOfStdin(): Stats | undefined {
  try {
    return fstatSync(0);
  } catch {
    // Stdin is closed, or a Windows console.
    return undefined;
  }
}

/** Whether this process's parent has the same stdin; undefined if unknown. */
function isOfParent(): boolean | undefined {
  try {
    const [, parent] = /.*\) \S (\d+)/s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? [];
    return readlinkSync(`/proc/${parent}/fd/0`) === readlinkSync('/proc/self/fd/0');
  } catch {
    return undefined;
  }
}
