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

/** Findings about instances that may bill for nothing. */
const FORGOTTEN: ReadonlySet<string> = new Set([
  'deadline_passed',
  'running_long',
  'instance_error',
]);

/** Names in a suggested command. */
const MOST_NAMES = 3;

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
  const findings = findingsOf(look);
  const found = living.filter(({ id }) =>
    findings.some(({ code, resource }) => FORGOTTEN.has(code) && resource === id),
  );
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
    attention: findings.map(({ code, resource, message, next }) => ({
      code,
      resource,
      message,
      command: code === UNENFORCED ? armCommand : next && typed(next),
    })),
    next: nextSteps(living, drives, { found, canRent, jobs }).map(({ words, purpose }) => ({
      command: typed(words),
      purpose,
    })),
    unread: faults.map(({ part, error }) => ({ part, code: error.code, message: error.message })),
  };
}

export function mayBillIn(instances: readonly AccountInstance[]): AccountInstance[] {
  return instances.filter(({ id, bills }) => id !== null && bills !== false);
}

/** Steps on the screen. */
const MOST_STEPS = 4;

/** Returns the next steps. Omits pending requests: the attention list shows them. */
function nextSteps(
  living: readonly AccountInstance[],
  drives: readonly AccountDrive[],
  {
    found,
    canRent,
    jobs,
  }: {
    /** Living instances with a finding. The others may be at work. */
    readonly found: readonly AccountInstance[];
    readonly canRent: boolean;
  } & Pick<Look, 'jobs'>,
): NextStep[] {
  const nameOf = ({ name, id }: AccountInstance) => typedName(name, id ?? '');
  const running = living.find(({ status }) => status === 'ACTIVE');
  // Sorts instances that bill before those that may bill.
  const dearestFirst = (a: AccountInstance, b: AccountInstance) =>
    Number(b.bills === true) - Number(a.bills === true) || byPrice(a, b);
  const [dearest] = [...living].sort(dearestFirst);
  const steps: NextStep[] = [];
  if (running !== undefined) {
    steps.push({ words: ['instances', 'ssh', nameOf(running)], purpose: 'connect' });
  }
  // Terminating the instance of a job deletes results that are not copied.
  const endsIn = ({ id }: AccountInstance) =>
    jobs.find((job) => job.id === id && job.ends.length > 0)?.ends;
  if (dearest !== undefined && living.length === 1) {
    const words = ['instances', 'terminate', nameOf(dearest)];
    steps.push(...(endsIn(dearest) ?? [{ words, purpose: 'stop paying' }]));
  } else if (dearest !== undefined) {
    const names = found
      .filter((one) => endsIn(one) === undefined)
      .sort(dearestFirst)
      .slice(0, MOST_NAMES)
      .map(nameOf);
    if (names.length > 0) {
      steps.push({ words: ['instances', 'terminate', ...names], purpose: 'stop paying' });
    }
    steps.push({ words: ['instances', 'terminate', '--all'], purpose: 'stop all' });
  } else if (canRent) {
    steps.push({ words: ['instances', 'create'], purpose: 'rent' });
  }
  if (jobs.some((job) => living.some(({ id }) => id === job.id)))
    steps.push({ words: ['jobs', 'list'], purpose: 'jobs' });
  steps.push(
    living.length > 0 || drives.length > 0
      ? { words: ['billing', 'spend'], purpose: 'costs' }
      : { words: ['catalog', 'list'], purpose: 'catalog' },
  );
  return steps.slice(0, MOST_STEPS);
}
