import type { AccountReading } from '../../money/account.ts';
import {
  type BurnJson,
  burnJson,
  type ChargesJson,
  chargesJson,
  moneyFacts,
  type RunwayJson,
  runwayJson,
} from '../../money/facts.ts';
import { typedName } from '../../rules/names.ts';
import { isTerminated } from '../../rules/statuses.ts';
import { type Attention, attentionOf } from './attention.ts';
import { byPrice, type DriveRow, driveRow, type InstanceRow, instanceRow } from './rows.ts';

/** The JSON of `status`: names and amounts of the service, and a few of ours. */
export interface Overview extends RunwayJson {
  readonly as_of: string;
  readonly account: {
    readonly id: string;
    readonly email: string | null;
    readonly is_active: boolean | null;
  } | null;
  /** The wallet balance of the profile, as the service wrote it. */
  readonly balance: string | null;
  readonly burn: BurnJson;
  readonly charges: ChargesJson | null;
  /** Those known to this computer: the published API has no list of instances. */
  readonly instances: readonly InstanceRow[];
  readonly drives: readonly DriveRow[];
  readonly attention: readonly Attention[];
  readonly next: readonly NextStep[];
  /** The parts that could not be read; the worst decides the exit code. */
  readonly unread: readonly {
    readonly part: string;
    readonly code: string;
    readonly message: string;
  }[];
}

/** A command that fits the account. */
export interface NextStep {
  readonly command: string;
  /** A word or two. */
  readonly purpose: string;
}

export function overviewOf(reading: AccountReading): Overview {
  const { now, user, faults } = reading;
  const facts = moneyFacts(reading);
  const instances = (reading.instances?.rows ?? [])
    .filter(({ status }) => !isTerminated(status))
    .map((row) => instanceRow(row, now));
  const drives = (reading.drives ?? []).filter(({ status }) => status !== 'DELETED').map(driveRow);
  const isFunded = facts.balance?.gt(0) !== false;
  const canRent = isFunded && !faults.some(({ part }) => part === 'instances');
  return {
    as_of: new Date(now).toISOString(),
    account:
      user === undefined
        ? null
        : { id: user.id, email: user.email ?? null, is_active: user.is_active ?? null },
    balance: user?.balance ?? null,
    burn: burnJson(facts),
    ...runwayJson(facts),
    charges: chargesJson(facts.charges),
    instances,
    drives,
    attention: attentionOf({ reading, facts, instances, drives }),
    next: nextSteps(mayBillIn(instances), drives, canRent),
    unread: faults.map(({ part, error }) => ({ part, code: error.code, message: error.message })),
  };
}

/** The instances that bill, or of which nobody says that they do not. */
export function mayBillIn(instances: readonly InstanceRow[]): InstanceRow[] {
  return instances.filter(({ id, bills }) => id !== null && bills !== false);
}

/** At most three; what has to be settled is in the attention list with its own command. */
function nextSteps(
  living: readonly InstanceRow[],
  drives: readonly DriveRow[],
  canRent: boolean,
): NextStep[] {
  const typed = ({ name, id }: InstanceRow) => typedName(name, id ?? '');
  const running = living.find(({ status }) => status === 'ACTIVE');
  // What certainly bills comes before what only may.
  const [dearest] = [...living].sort(
    (a, b) => Number(b.bills === true) - Number(a.bills === true) || byPrice(a, b),
  );
  const steps: NextStep[] = [];
  if (running !== undefined) {
    steps.push({ command: `gpucloud instances ssh ${typed(running)}`, purpose: 'connect' });
  }
  if (dearest !== undefined) {
    const command = `gpucloud instances terminate ${typed(dearest)}`;
    steps.push({ command, purpose: 'stop paying' });
  } else if (canRent) {
    steps.push({ command: 'gpucloud instances create', purpose: 'rent' });
  }
  steps.push(
    living.length > 0 || drives.length > 0
      ? { command: 'gpucloud billing spend', purpose: 'costs' }
      : { command: 'gpucloud catalog list', purpose: 'catalog' },
  );
  return steps;
}
