import type { PartFault } from '../../money/account-reading.ts';
import { money } from '../../rules/money.ts';
import { typedName } from './attention.ts';
import type { DriveRow, MachineRow } from './overview.ts';

/** A command that fits what there is, and what it is for. */
export interface NextStep {
  readonly command: string;
  /** One word or two, so that the command stands on the same line. */
  readonly purpose: string;
}

interface Things {
  readonly machines: readonly MachineRow[];
  readonly drives: readonly DriveRow[];
  readonly faults: readonly PartFault[];
  /** Whether there is money to rent with, as far as anybody knows. */
  readonly funded: boolean;
}

/** At most three: what has to be settled stands in the attention list with its own command. */
export function nextSteps({ machines, drives, faults, funded }: Things): NextStep[] {
  const living = machines.filter(({ id, bills }) => id !== null && bills !== false);
  // What certainly bills comes before what only may.
  const [dearest] = [...living].sort((a, b) => sure(b) - sure(a) || byPrice(a, b));
  const running = living.find(({ status }) => status === 'ACTIVE');
  const steps: NextStep[] = [];
  if (running !== undefined) {
    const name = typedName(running.name, running.id ?? '');
    steps.push({ command: `gpucloud instances ssh ${name}`, purpose: 'connect' });
  }
  if (dearest !== undefined) {
    const name = typedName(dearest.name, dearest.id ?? '');
    steps.push({ command: `gpucloud instances terminate ${name}`, purpose: 'stop paying' });
  }
  if (living.length === 0 && funded && !faults.some(({ part }) => part === 'machines')) {
    steps.push({ command: 'gpucloud instances create', purpose: 'rent' });
  }
  if (living.length > 0 || drives.length > 0) {
    steps.push({ command: 'gpucloud billing spend', purpose: 'costs' });
  } else {
    steps.push({ command: 'gpucloud catalog list', purpose: 'catalog' });
  }
  return steps;
}

function sure({ bills }: MachineRow): number {
  return bills === true ? 1 : 0;
}

/** The dearest first; one whose price is not told last. */
export function byPrice(a: MachineRow, b: MachineRow): number {
  const [of, other] = [a, b].map((row) => money(row.price_per_hour_snapshot ?? ''));
  if (of?.ok !== true) return other?.ok === true ? 1 : 0;
  return other?.ok === true ? other.value.cmp(of.value) : -1;
}
