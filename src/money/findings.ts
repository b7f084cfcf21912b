import { FAILURES } from '../errors.ts';
import type { Armed, Enforcement } from '../instances/deadlines/armed.ts';
import type { OtherAccount } from '../instances/other-accounts.ts';
import type { AccountDrive, AccountInstance } from '../json-results/money.ts';
import { withStop } from '../output/messages.ts';
import { instant, relative, spanText } from '../output/time.ts';
import { clamp } from '../output/width.ts';
import { inRoubles, zero } from '../rules/money.ts';
import { typedName } from '../rules/names.ts';
import { GONE, UNKNOWN } from '../rules/statuses.ts';
import { type AccountReading, alikeFaults } from './account.ts';
import { groupText, type MoneyFacts, moneyFacts, unexplainedText, whyUnchecked } from './facts.ts';
import { fullText } from './full-drive.ts';
import { driveRow, instanceRows, lineOf } from './rows.ts';

/** A condition of an account that needs a person's attention. */
export interface Finding {
  readonly code: string;
  /** ID or name of the affected resource. */
  readonly resource: string | null;
  /** A message without a full stop. */
  readonly message: string;
  /** Arguments of the next command, without "gpucloud". */
  readonly next: readonly string[] | null;
  /** An instance's row with the reason. An audit prints it as evidence. */
  readonly evidence?: string;
  readonly row?: AccountInstance;
}

/** A job of `run` that has not ended according to this computer's records. */
export interface OpenJob {
  /** The ID of the job's instance. */
  readonly id: string;
  readonly name: string;
  /** Seconds since the job began. */
  readonly age_seconds: number;
  /** Whether a process of this computer follows the job. */
  readonly isFollowed: boolean;
  /** Whether its command may run. */
  readonly isOpen: boolean;
  /** Whether the instance was kept for its results. */
  readonly isKept: boolean;
  readonly problem?: JobProblem | undefined;
  /** What ends the paying for its instance; none if the job does not end it. */
  readonly ends: readonly { readonly words: readonly string[]; readonly purpose: string }[];
}

/** What to say of a job, with the words that mend it: `WHAT. To TO: NEXT`. */
export interface JobProblem extends Pick<Finding, 'code' | 'resource'> {
  readonly what: string;
  readonly to: string;
  readonly next: readonly string[];
}

/** The facts behind all findings. */
export interface Look {
  readonly reading: AccountReading;
  readonly facts: MoneyFacts;
  readonly instances: AccountInstance[];
  readonly drives: AccountDrive[];
  /** undefined if the caller doesn't check whether deadlines are enforced. */
  readonly enforcement: Enforcement | undefined;
  readonly jobs: readonly OpenJob[];
  /** The jobs that lately ended without their results. */
  readonly lost: JobProblem | undefined;
  /** Other accounts whose instances may bill. */
  readonly others: readonly OtherAccount[];
}

export function lookAt(
  reading: AccountReading,
  local: Partial<Pick<Look, 'enforcement' | 'jobs' | 'lost' | 'others'>> = {},
): Look {
  const { instances, drives, now } = reading;
  return {
    reading,
    facts: moneyFacts(reading),
    instances: instanceRows(instances?.rows ?? [], now),
    drives: (drives ?? []).filter(({ status }) => status !== 'DELETED').map(driveRow),
    ...{ enforcement: undefined, jobs: [], lost: undefined, others: [] },
    ...local,
  };
}

/** A kind of finding about a resource of type T. */
interface Kind<T> {
  readonly code: string;
  /** Whether this resource has the condition. */
  test(one: T, look: Look): boolean;
  message(one: T, look: Look): string;
  next?(one: T): readonly string[];
  /** The row as evidence; only for instances. */
  evidence?(one: T, look: Look): string;
  /** The affected resource, for findings about the account; null by default. */
  resource?(one: T): string | null;
}

/** A balance that lasts less than this many seconds is low. */
const LOW = 24 * 3600;
/** An hourly charge may be late by this many milliseconds. */
const LATE = 10 * 60_000;
/** Age in seconds at which an instance without a deadline may have been forgotten. */
const LONG = 24 * 3600;

/** All kinds of findings, most serious first. */
const KINDS: readonly ((look: Look) => Finding[])[] = [
  unreadParts,
  ofInstances({
    code: 'unknown_request',
    test: ({ status }) => status === UNKNOWN,
    message: ({ name, created_at }, { reading }) =>
      `The outcome of ${short(name)}${created_at === null ? '' : `, requested ${relative(Date.parse(created_at), reading.now)},`} is unknown: it may be billing`,
    next: () => ['instances', 'recover'],
  }),
  ofInstances({
    code: 'deadline_passed',
    test: (row, look) => mayRun(row) && secondsLate(row, look) >= 0,
    message(row, look) {
      // A scheduled reap copies the results of a running instance first.
      const loses =
        row.status === 'STOPPED' && look.jobs.some(({ id, problem }) => id === row.id && problem);
      const results = loses ? '; terminating it deletes the uncopied results of its job' : '';
      return `${short(row.name)} is ${lateText(row, look)}${results}`;
    },
    evidence: (row, look) => `${lineOf(row)}, ${lateText(row, look)}`,
    next: () => ['instances', 'reap'],
  }),
  unenforced,
  otherAccounts,
  ofInstances({
    code: 'rescue_failing',
    test: ({ rescue_failing: failing }) => failing !== null,
    message: ({ name, rescue_failing: failing }) =>
      `Could not copy the --rescue paths of ${short(name)} (${clamp(failing ?? '', 80)}). To copy them`,
    evidence: (row) => `${lineOf(row)}, ${row.rescue_failing}`,
    next: (row) => ['instances', 'rescue', typedRow(row)],
  }),
  ofJobs,
  ({ lost }) =>
    lost ? [finding(lost.code, lost.resource, `${lost.what}. To ${lost.to}`, lost.next)] : [],
  unfollowed,
  ofInstances({
    code: 'running_long',
    test: ({ id, bills, ends_at, if_idle_seconds: rule, age_seconds: age }) =>
      id !== null &&
      bills === true &&
      ends_at === null &&
      rule === null &&
      age !== null &&
      age >= LONG,
    message: (row) => `${short(row.name)} was ${ageText(row)} and has no deadline`,
    evidence: (row) => `${lineOf(row)}, ${ageText(row)}`,
    next: (row) => ['instances', 'expire', typedRow(row), '--if-idle', '45m'],
  }),
  ofAccount({
    code: 'unexplained_charges',
    test: ({ facts }) => facts.charges?.unexplained.gt(0) === true,
    message: ({ facts: { charges } }) =>
      charges === undefined
        ? ''
        : `${unexplainedText(charges)}. The largest group: ${charges.groups.slice(0, 1).map(groupText)}. To investigate`,
    next: () => ['audit'],
  }),
  ofAccount({
    code: 'charges_unchecked',
    // Unreadable parts have their own findings.
    test: ({ facts: { charges }, reading }) =>
      whyUnchecked(charges) !== undefined && (charges !== undefined || reading.faults.length === 0),
    message: ({ facts }) => `${whyUnchecked(facts.charges)}, so something unknown may be billing`,
    next: () => ['billing', 'spend'],
  }),
  ofAccount({
    code: 'account_inactive',
    test: ({ reading }) => reading.user?.is_active === false,
    resource: ({ reading }) => reading.user?.id ?? null,
    message: () => 'The account is not active (blocked)',
  }),
  ofAccount({
    code: 'balance_unknown',
    test: ({ reading, facts }) => reading.user !== undefined && facts.balance === undefined,
    message: () => 'The service returned no readable balance',
  }),
  ofAccount({
    code: 'balance_negative',
    test: ({ facts }) => facts.balance?.lt(0) === true,
    message: ({ facts }) => `The balance is negative: ${inRoubles(facts.balance ?? zero())}`,
  }),
  ofAccount({
    code: 'balance_low',
    test: ({ facts: { balance, runway } }) =>
      balance?.gte(0) === true && runway?.seconds.lt(LOW) === true,
    message: ({ facts }) => {
      const left = Number(facts.runway?.seconds.toFixed());
      return left === 0
        ? 'The balance is used up: top up'
        : `The balance lasts ${spanText(left)} at this rate: top up, or terminate what you don't need`;
    },
  }),
  ofDrives({
    code: 'drive_suspended',
    test: ({ status }) => status === 'SUSPENDED',
    message: (row, { reading }) =>
      `Drive ${title(row)} is SUSPENDED because the balance ran out. Its debt grows, and ${deletionText(row, reading.now)}. Top up the balance, then`,
    next: ({ name, id }) => ['drives', 'resume', typedName(name, id)],
  }),
  ofDrives({
    code: 'drive_error',
    test: ({ status }) => status === 'ERROR',
    message: (row) => `Drive ${title(row)} is in ERROR and still billing`,
    next: ({ id }) => ['drives', 'get', id],
  }),
  ofDrives({
    code: 'drive_full',
    test: (row) => fullText(row) !== undefined,
    message: (row) => fullText(row) ?? '',
    next: ({ name, id }) => ['drives', 'get', typedName(name, id)],
  }),
  ofInstances({
    code: 'instance_gone',
    test: ({ status }) => status === GONE,
    message: ({ name }) =>
      `The service does not find ${short(name)}: check in the web console whether it is billing`,
    next: ({ id }) => ['instances', 'untrack', id ?? ''],
  }),
  ofInstances({
    code: 'instance_error',
    test: ({ status }) => status === 'ERROR',
    message: ({ name, failure_reason: why }) =>
      `${short(name)} is in ERROR${why === null ? '' : ` (${clamp(why, 80)})`} and may be billing`,
    next: (row) => ['instances', 'terminate', typedRow(row)],
  }),
  ofInstances({
    code: 'price_not_told',
    test: ({ id, bills, price_per_hour_snapshot: price }) =>
      id !== null && bills === true && price === null,
    message: ({ name }) => `The price of ${short(name)} is unknown and not part of the burn rate`,
  }),
  ofInstances({
    code: 'instance_overdue',
    test: ({ bills, price_per_hour_snapshot: price, paid_until: paid }, { reading }) =>
      bills === true && price !== null && reading.now - (instant(paid) ?? reading.now) > LATE,
    message: ({ name, status, paid_until: paid }, { reading }) =>
      `${short(name)} is ${status} and was paid until ${relative(instant(paid) ?? reading.now, reading.now)}`,
    next: (row) => ['instances', 'events', typedRow(row)],
  }),
];

/** Returns the findings about an account: all, or only those with these codes. */
export function findingsOf(look: Look, ...codes: readonly string[]): Finding[] {
  const all = KINDS.flatMap((kind) => kind(look));
  return codes.length === 0 ? all : all.filter(({ code }) => codes.includes(code));
}

function ofAccount({ code, test, message, next, resource }: Kind<Look>) {
  return (look: Look): Finding[] =>
    test(look, look)
      ? [finding(code, resource?.(look) ?? null, message(look, look), next?.(look))]
      : [];
}

function ofDrives({ code, test, message, next }: Kind<AccountDrive>) {
  return (look: Look): Finding[] =>
    look.drives
      .filter((row) => test(row, look))
      .map((row) => finding(code, row.id, message(row, look), next?.(row)));
}

/** Skips jobs of terminated instances: those have no results. The first is the one that ends first. */
function ofJobs(look: Look): Finding[] {
  return look.jobs
    .filter((job) => look.instances.some((row) => row.id === job.id && mayRun(row)))
    .sort((a, b) => endOf(a, look) - endOf(b, look))
    .flatMap((job) => {
      if (job.problem === undefined) return [];
      const { code, resource, what, to, next } = job.problem;
      return [finding(code, resource, `${withStop(what)}${endText(job, look)} To ${to}`, next)];
    });
}

function endOf({ id }: OpenJob, { instances }: Look): number {
  const row = instances.find((one) => one.id === id);
  return row?.ends_at == null ? Number.MAX_VALUE : Date.parse(row.ends_at);
}

function ofInstances({ code, test, message, next, evidence }: Kind<AccountInstance>) {
  return (look: Look): Finding[] =>
    look.instances
      .filter((row) => test(row, look))
      .map((row) => ({
        ...finding(code, row.id ?? row.name, message(row, look), next?.(row)),
        ...(evidence === undefined ? {} : { evidence: evidence(row, look) }),
        row,
      }));
}

function finding(
  code: string,
  resource: string | null,
  message: string,
  next: readonly string[] | null = null,
): Finding {
  return { code, resource, message, next };
}

function unreadParts({ reading }: Look): Finding[] {
  const { instances } = reading;
  return alikeFaults(reading.faults).map(({ names, parts, error }) => {
    const some =
      instances !== undefined && parts.includes('instances')
        ? ` (${instances.faults.length} of ${instances.requested} instances, shown with their last known state)`
        : '';
    const code = FAILURES[error.failure].exit;
    const message = `Could not read ${names}${some}, exit code ${code}: ${error.message}`;
    return finding('part_unread', parts.join(' '), message);
  });
}

/**
 * Returns a finding for the deadlines that may be enforced late, or never. Idle rules and jobs have
 * their own finding if only their enforcement is missing, as with a schedule of an older gpucloud.
 */
function unenforced({ instances, enforcement, jobs }: Look): Finding[] {
  if (enforcement === undefined) return [];
  const { deadline, idle, job, rescue } = enforcement;
  const rows = instances.filter(mayRun);
  const isAlike = idle.reason === deadline.reason;
  const ruled = rows.filter((row) => row.if_idle_seconds !== null);
  const dated = rows.filter(
    (row) => row.ends_at !== null || (isAlike && row.if_idle_seconds !== null),
  );
  const copied = rows.filter((row) => row.rescue !== null);
  const open = jobs.filter(({ id }) => rows.some((row) => row.id === id));
  return [
    ...doubt('enforces the deadline', dated, deadline),
    ...(isAlike ? [] : doubt('enforces the idle rule', ruled, idle)),
    ...(job.reason === deadline.reason ? [] : doubt('finishes the job', open, job)),
    ...(rescue.reason === deadline.reason
      ? []
      : doubt('copies the --rescue paths', copied, rescue)),
  ];
}

/** Returns a finding for the jobs that may have ended while their instances bill. */
function unfollowed({ instances, enforcement, jobs }: Look): Finding[] {
  if (enforcement?.job.isArmed !== false) return [];
  const [first, ...others] = jobs.filter(
    ({ id, isOpen, isFollowed }) =>
      isOpen && !isFollowed && instances.some((row) => row.id === id && mayRun(row)),
  );
  if (first === undefined) return [];
  const text =
    others.length === 0
      ? `The job of ${short(first.name)}, started ${spanText(first.age_seconds)} ago, may have ended while its instance bills: nothing on this computer follows it`
      : `The jobs of ${short(first.name)} and ${others.length} more may have ended while their instances bill: nothing on this computer follows them`;
  return [finding('job_unfollowed', first.id, `${text}. To check`, ['jobs', 'list'])];
}

/** Says when a kept instance is terminated by its `run` or `reap`; '' if nothing does that. */
function endText({ id, isKept, isFollowed }: OpenJob, look: Look): string {
  const row = look.instances.find((one) => one.id === id);
  const isEnforced = isFollowed || look.enforcement?.deadline.isArmed === true;
  if (!isKept || !isEnforced || row?.ends_at == null) return '';
  const late = secondsLate(row, look);
  return late >= 0 ? '' : ` In ${spanText(-late)}, it is terminated with what was not copied.`;
}

function otherAccounts({ others }: Look): Finding[] {
  return others.map(({ scope: { account = '' }, message, next }) =>
    finding(next ? 'other_account' : 'signed_out_account', account, message, next),
  );
}

type Named = Pick<AccountInstance, 'id' | 'name'>;

function doubt(does: string, whose: readonly Named[], { isArmed, reason }: Armed): Finding[] {
  const [first, ...others] = whose;
  if (first === undefined || reason === undefined) return [];
  const names = `${short(first.name)}${others.length === 0 ? '' : ` and ${others.length} more`}`;
  const [code, message, flag] = isArmed
    ? ['deadline_doubtful', `The deadline of ${names} may not be enforced in time`, '--status']
    : ['deadline_unenforced', `Nothing on this computer ${does} of ${names}`, '--install'];
  return [finding(code, first.id, `${message}: ${reason}`, ['instances', 'reap', flag])];
}

function mayRun({ id, bills }: AccountInstance): boolean {
  return id !== null && bills !== false;
}

/** Returns a negative number before the deadline or without a deadline. */
function secondsLate({ ends_at }: AccountInstance, { reading }: Look): number {
  return ends_at === null ? -1 : (reading.now - Date.parse(ends_at)) / 1000;
}

function lateText(row: AccountInstance, look: Look): string {
  return `${spanText(secondsLate(row, look))} past its deadline`;
}

function ageText({ age_seconds: age }: AccountInstance): string {
  return `rented ${spanText(Number(age))} ago`;
}

/** Formats a range, since no field shows when the drive was suspended. */
function deletionText(
  { deleted_at_earliest: earliest, deleted_at_latest: latest }: AccountDrive,
  now: number,
): string {
  const [after, before] = [earliest, latest].map((text) =>
    text === null ? undefined : spanText(Math.max(0, (Date.parse(text) - now) / 1000)),
  );
  if (after === undefined) return 'the service deletes it 7 days after the suspension';
  return before === undefined || before === after
    ? `the service deletes it in about ${after}`
    : `the service deletes it in ${after} to ${before}`;
}

function typedRow({ name, id }: AccountInstance): string {
  return typedName(name, id ?? '');
}

function title({ name, id }: AccountDrive): string {
  return short(name ?? id);
}

/** Shortens a name: names of drives and requests can have any length. */
function short(name: string): string {
  return clamp(name, 40);
}
