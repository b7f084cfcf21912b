import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { connect, Socket } from 'node:net';

// Detects that the reader of stdout is gone, so that `... --follow | head -1` exits. A command with
// `--follow` may write nothing for hours, and only a write would fail.

/** Milliseconds to wait before watching, so that short commands never watch. */
const SHORT_MS = 500;
/** Milliseconds between two checks, if the system must be polled. */
const LOOK_MS = 1_000;

/**
 * Calls back once when the pipe or socket has lost its last reader. Only Linux reports that, and
 * not for TCP, whose other end may stop writing but still read. Returns a function that stops
 * watching.
 *
 * @param fd a descriptor for output; this function writes nothing to it.
 * @param pipeLook see src/platform/pipe.ts; undefined on Node, which can wait for a pipe.
 */
export function onReaderGone(fd: number, gone: () => void, pipeLook?: OpenPipeLook): () => void {
  let stop: () => void = () => undefined;
  let isStopped = false;
  const begin = async () => {
    try {
      const look = await pipeLook?.();
      if (!isStopped) stop = watchFor(fd, gone, look);
    } catch (error) {
      // ENXIO: a named pipe without a reader can't be opened.
      if (error instanceof Error && 'code' in error && error.code === 'ENXIO') gone();
      // For other errors, the next write reports that the reader is gone.
    }
  };
  const timer = setTimeout(begin, SHORT_MS).unref();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    stop();
  };
}

type Look = (fd: number) => boolean;
type OpenPipeLook = () => Promise<Look | undefined>;

function watchFor(fd: number, gone: () => void, pipeLook: Look | undefined): () => void {
  const stat = fstatSync(fd);
  if (stat.isFIFO()) return pipeLook ? lookAgain(fd, pipeLook, gone) : watchPipe(fd, gone);
  if (stat.isSocket()) return lookAgain(fd, isSocketClosed, gone);
  return () => undefined;
}

/**
 * Node's own handle below a socket, the only undocumented part of Node that gpucloud uses: nothing
 * else lets `--follow | head -1` exit. If Node removes it, the next write detects that the reader
 * is gone.
 */
interface Handle {
  /** Takes over a descriptor; returns 0, or an error number. */
  open(fd: number): number;
}
type HandleClass = new (kind: 0) => Handle;

/**
 * When a pipe loses its last reader, Linux wakes every process that waits for the pipe. This
 * includes a process that waits to read from the writing end. Of Node's handles, only TCP handles
 * can wait this way. The read that follows fails with EBADF.
 */
function watchPipe(fd: number, gone: () => void): () => void {
  // Open the pipe again instead of duplicating the descriptor, since the shared mode must not
  // change.
  const own = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  const TcpHandle = handleClass();
  const handle = TcpHandle && new TcpHandle(0);
  if (handle?.open(own) !== 0) {
    closeSync(own);
    return () => undefined;
  }
  const options = { handle, writable: false };
  const socket = new Socket(options)
    .on('error', (error) => {
      if ('code' in error && error.code === 'EBADF') gone();
    })
    .unref();
  socket.resume();
  return () => socket.destroy();
}

/**
 * Returns the class of a socket's handle. Its lookup does nothing, so the socket never connects.
 */
function handleClass(): HandleClass | undefined {
  const asking = connect({ host: 'localhost', port: 1, lookup: () => undefined });
  const { _handle: handle } = asking as { _handle?: { constructor: unknown } };
  asking.destroy();
  return handle?.constructor as HandleClass | undefined;
}

/** An empty write sends nothing, but fails on a socket without a reader. */
function isSocketClosed(fd: number): boolean {
  try {
    writeSync(fd, new Uint8Array());
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPIPE';
  }
}

function lookAgain(fd: number, isClosed: Look, gone: () => void): () => void {
  const looks = setInterval(() => {
    if (!isClosed(fd)) return;
    clearInterval(looks);
    gone();
  }, LOOK_MS).unref();
  return () => clearInterval(looks);
}
