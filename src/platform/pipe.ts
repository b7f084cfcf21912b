/** As in poll(2): the descriptor and the events; the kernel's answer is the last two bytes. */
const POLLFD_BYTES = 8;
const POLLERR = 0x8;

/** glibc's and musl's. */
const LIBRARIES = ['libc.so.6', 'libc.so'];

/**
 * In the executable, a function that looks whether a pipe has lost its last reader. Bun has nothing
 * else that waits for it: see output/reader.ts for Node.
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
      // The other library; with neither of them the next write reports the reader.
    }
  }
  return undefined;
}
