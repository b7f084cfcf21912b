import type { Context } from '../context.ts';

/**
 * The time that the service's times are to be compared with, in milliseconds since 1970: the
 * computer's, and for the built-in sandbox that of its own clock, which can be turned.
 */
export async function serviceNow(context: Context): Promise<number> {
  const { sandbox } = await context.settings();
  return sandbox ? Date.parse((await (await context.sandbox()).status()).now) : context.clock.now();
}
