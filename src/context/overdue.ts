import type { Deadline } from '../journal/index.ts';
import { spanText } from '../output/time.ts';
import { mayBill } from '../rules/statuses.ts';

/** Names the instances that are past their deadline; undefined if none is. */
export function overdueWarning(deadlines: readonly Deadline[], now: number): string | undefined {
  const overdue = deadlines.filter((one) => timeOf(one) <= now && mayBill(one.status));
  const [first] = [...overdue].sort((a, b) => timeOf(a) - timeOf(b));
  if (first === undefined) return undefined;
  const late = spanText((now - timeOf(first)) / 1000);
  const others = overdue.length - 1;
  const what = others === 0 ? 'is' : `and ${others} more are`;
  const them = others === 0 ? 'it' : 'them';
  return `${first.name} ${what} ${late} past ${others === 0 ? 'its' : 'the'} deadline, and may be billing. To terminate ${them}: gpucloud instances reap`;
}

/** NaN for a deadline that can't be read. */
function timeOf({ deadline = '' }: Deadline): number {
  return Date.parse(deadline);
}
