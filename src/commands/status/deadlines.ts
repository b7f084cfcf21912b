import type { Enforcement } from '../../instances/deadlines/armed.ts';
import { spanText } from '../../output/time.ts';
import { clamp } from '../../output/width.ts';
import { typedName } from '../../rules/names.ts';
import type { InstanceRow } from './rows.ts';

/** Seconds after which an instance without a deadline may have been forgotten. */
const LONG = 24 * 3600;

/** Instances past their deadline, deadlines that nothing enforces, and instances without one. */
export function ofDeadlines(
  instances: readonly InstanceRow[],
  enforcement: Enforcement,
  now: number,
) {
  const billing = instances.filter(({ id, bills }) => id !== null && bills !== false);
  return [
    ...billing.flatMap((row) => passed(row, now)),
    ...unenforced(billing, enforcement),
    ...billing.flatMap(runningLong),
  ];
}

function passed({ id, name, ends_at }: InstanceRow, now: number) {
  const late = ends_at === null ? -1 : (now - Date.parse(ends_at)) / 1000;
  if (late < 0) return [];
  const message = `${short(name)} is ${spanText(late)} past its deadline`;
  const command = 'gpucloud instances reap';
  return [{ code: 'deadline_passed', resource: id, message, command } as const];
}

function unenforced(rows: readonly InstanceRow[], { isArmed, reason }: Enforcement) {
  const [first, ...others] = rows.filter(({ ends_at }) => ends_at !== null);
  if (first === undefined || reason === undefined) return [];
  const whose =
    others.length === 0 ? short(first.name) : `${short(first.name)} and ${others.length} more`;
  if (isArmed) {
    const message = `The deadline of ${whose} may not be enforced in time: ${reason}`;
    const command = 'gpucloud instances reap --status';
    return [{ code: 'deadline_doubtful', resource: first.id, message, command } as const];
  }
  const message = `Nothing on this computer enforces the deadline of ${whose}: ${reason}`;
  const command = 'gpucloud instances reap --install';
  return [{ code: 'deadline_unenforced', resource: first.id, message, command } as const];
}

function runningLong({ id, name, bills, age_seconds: age, ends_at }: InstanceRow) {
  if (bills !== true || ends_at !== null || age === null || age < LONG) return [];
  const message = `${short(name)} was rented ${spanText(age)} ago and has no deadline`;
  const command = `gpucloud instances expire ${typedName(name, id ?? '')} --after 4h`;
  return [{ code: 'running_long', resource: id, message, command } as const];
}

function short(name: string): string {
  return clamp(name, 40);
}
