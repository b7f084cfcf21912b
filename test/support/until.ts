/** Waits at most twenty seconds for a condition. */
export async function until(fits: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await fits()); tries += 1) {
    if (tries > 1000) throw new Error('what was waited for did not come');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Lets all that is pending in this process run: promises, and sockets between its own ends. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
