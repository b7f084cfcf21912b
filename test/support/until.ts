/** Waits at most twenty seconds for a condition. */
export async function until(fits: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await fits()); tries += 1) {
    if (tries > 1000) throw new Error('what was waited for did not come');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
