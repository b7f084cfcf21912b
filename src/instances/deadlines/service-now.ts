import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { spanText } from '../../output/time.ts';

/** Milliseconds by which the two clocks may differ without a warning. */
const SAME = 60_000;

/**
 * The service's time. Sends a request if no response has shown it yet: this computer's clock may be
 * wrong by a day. Throws CliError('notUnderstood') if the service does not show it.
 */
export async function serviceNow(context: Context): Promise<number> {
  const { serviceClock, clock, err } = context;
  if (!serviceClock.isKnown()) await (await context.api()).users.me();
  if (!serviceClock.isKnown()) {
    throw new CliError(
      'notUnderstood',
      "The service's response has no Date header. Deadlines follow the service's clock.",
    );
  }
  const ahead = serviceClock.now() - clock.now();
  const { sandbox } = await context.settings({ key: false });
  // People move the clock of the built-in sandbox on purpose.
  if (!sandbox && Math.abs(ahead) > SAME) {
    const difference = spanText(Math.abs(ahead) / 1000);
    err.warn(
      'clock_differs',
      `The service's clock is ${difference} ${ahead > 0 ? 'ahead of' : 'behind'} this computer's. Deadlines follow the service's clock.`,
    );
  }
  return serviceClock.now();
}
