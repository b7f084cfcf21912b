import type { AccountDrive, AccountInstance, Overview } from '../../json-results/money.ts';
import { burnJson, chargesJson, runwayJson } from '../../money/facts.ts';
import { findingsOf, type Look } from '../../money/findings.ts';
import { byPrice } from '../../money/rows.ts';
import { typedName } from '../../rules/names.ts';

/** Formats a command as a line to paste. */
export type Typed = (words: readonly string[]) => string;

/** A suggested next step for the account. */
interface NextStep {
  readonly words: readonly string[];
  /** A label of one or two words. */
  readonly purpose: string;
}

/** The finding that no schedule enforces a deadline. */
export const UNENFORCED = 'deadline_unenforced';

interface How {
  readonly typed: Typed;
  /** The command that makes this computer enforce deadlines; '' if none is needed. */
  readonly armCommand: string;
}

/** Builds the JSON of `status`: the service's names and amounts, and a few of gpucloud's. */
export function overviewOf(look: Look, { typed, armCommand }: How): Overview {
  const { reading, facts, instances, drives, jobs } = look;
  const { now, user, faults } = reading;
  const isFunded = facts.balance?.gt(0) !== false;
  const living = mayBillIn(instances);
  const hasJobs = jobs.some((job) => living.some(({ id }) => id === job.id));
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
    attention: findingsOf(look).map(({ code, resource, message, next }) => ({
      code,
      resource,
      message,
      command: code === UNENFORCED ? armCommand : next && typed(next),
    })),
    next: nextSteps(living, drives, { canRent, hasJobs }).map(({ words, purpose }) => ({
      command: typed(words),
      purpose,
    })),
    unread: faults.map(({ part, error }) => ({ part, code: error.code, message: error.message })),
  };
}

export function mayBillIn(instances: readonly AccountInstance[]): AccountInstance[] {
  return instances.filter(({ id, bills }) => id !== null && bills !== false);
}

/** Returns at most four next steps. Omits pending requests: the attention list shows them. */
function nextSteps(
  living: readonly AccountInstance[],
  drives: readonly AccountDrive[],
  { canRent, hasJobs }: { readonly canRent: boolean; readonly hasJobs: boolean },
): NextStep[] {
  const nameOf = ({ name, id }: AccountInstance) => typedName(name, id ?? '');
  const running = living.find(({ status }) => status === 'ACTIVE');
  // Sorts instances that bill before those that may bill.
  const [dearest] = [...living].sort(
    (a, b) => Number(b.bills === true) - Number(a.bills === true) || byPrice(a, b),
  );
  const steps: NextStep[] = [];
  if (running !== undefined) {
    steps.push({ words: ['instances', 'ssh', nameOf(running)], purpose: 'connect' });
  }
  if (dearest !== undefined) {
    const which = living.length > 1 ? '--all' : nameOf(dearest);
    steps.push({ words: ['instances', 'terminate', which], purpose: 'stop paying' });
  } else if (canRent) {
    steps.push({ words: ['instances', 'create'], purpose: 'rent' });
  }
  if (hasJobs) steps.push({ words: ['jobs', 'list'], purpose: 'jobs' });
  steps.push(
    living.length > 0 || drives.length > 0
      ? { words: ['billing', 'spend'], purpose: 'costs' }
      : { words: ['catalog', 'list'], purpose: 'catalog' },
  );
  return steps;
}
