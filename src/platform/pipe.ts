/**
 * Size of poll(2)'s entry: the descriptor and the events; the kernel writes its result into the
 * last two bytes.
 */
const POLLFD_BYTES = 8;
const POLLERR = 0x8;

/** The C library's file names in glibc and musl. */
const LIBRARIES = ['libc.so.6', 'libc.so'];

/**
 * Checks in the executable whether a pipe has lost its last reader. Bun can't wait for that event;
 * output/reader.ts does in Node.
 */
export async function openPipeLook(): Promise<((fd: number) => boolean) | undefined> {
  const { dlopen } = await import('bun:ffi');
  for (const library of LIBRARIES) {
    try {
      const { poll } = dlopen(library, {
        poll: { args: ['ptr', 'u64', 'i32'], returns: 'i32' },
      }).symbols;
      return (fd) => {
        const entry = Buffer.alloc(POLLFD_BYTES);
        entry.writeInt32LE(fd, 0);
        return poll(entry, 1, 0) > 0 && (entry.readInt16LE(6) & POLLERR) !== 0;
      };
    } catch {
      // Try the other library. If both are missing, the next write detects that the reader is gone.
    }
  }
  return undefined;
}
