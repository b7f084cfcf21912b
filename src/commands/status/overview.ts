import type { Enforcement } from '../../instances/deadlines/armed.ts';
import type { AccountReading } from '../../money/account.ts';
import { burnJson, chargesJson, moneyFacts, runwayJson } from '../../money/facts.ts';
import type { Overview as StatusResult } from '../../results/money.ts';
import { typedName } from '../../rules/names.ts';
import { isTerminated } from '../../rules/statuses.ts';
import { attentionOf } from './attention.ts';
import { byPrice, type DriveRow, driveRow, type InstanceRow, instanceRow } from './rows.ts';

export type Overview = ReturnType<typeof overviewOf>;

/** A next step that fits the account. */
interface NextStep {
  readonly command: string;
  /** A word or two. */
  readonly purpose: string;
}

/** The JSON of `status`: the service's names and amounts, plus a few fields of ours. */
export function overviewOf(
  reading: AccountReading,
  enforcement: Enforcement,
  { sandbox }: { readonly sandbox: boolean },
) {
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
    /** The wallet balance from the profile, as the service wrote it. */
    balance: user?.balance ?? null,
    burn: burnJson(facts),
    ...runwayJson(facts),
    charges: chargesJson(facts.charges),
    /** Instances known to this computer: the API has no list of instances. */
    instances,
    drives,
    attention: attentionOf({ reading, facts, instances, drives, enforcement }),
    next: nextSteps(mayBillIn(instances), drives, { canRent, canConnect: !sandbox }),
    /** Parts that could not be read; the worst decides the exit code. */
    unread: faults.map(({ part, error }) => ({ part, code: error.code, message: error.message })),
  } satisfies StatusResult;
}

/** Returns instances that bill or may bill. */
export function mayBillIn(instances: readonly InstanceRow[]): InstanceRow[] {
  return instances.filter(({ id, bills }) => id !== null && bills !== false);
}

/** At most three; pending requests are in the attention list with their own command. */
function nextSteps(
  living: readonly InstanceRow[],
  drives: readonly DriveRow[],
  { canRent, canConnect }: { readonly canRent: boolean; readonly canConnect: boolean },
): NextStep[] {
  const typed = ({ name, id }: InstanceRow) => typedName(name, id ?? '');
  const running = living.find(({ status }) => status === 'ACTIVE');
  // Certainly billing before possibly billing.
  const [dearest] = [...living].sort(
    (a, b) => Number(b.bills === true) - Number(a.bills === true) || byPrice(a, b),
  );
  const steps: NextStep[] = [];
  // Sandbox instances have no SSH.
  if (running !== undefined && canConnect) {
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
