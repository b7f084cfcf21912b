import { sentence } from '../../api/errors.ts';
import { AT_ONCE, createGate, READS_AT_ONCE } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import { asCliError, type CliError } from '../../errors.ts';
import type { Gates } from '../../instances/rent/capacity.ts';
import { shellLine } from '../../output/shell-line.ts';
import { clamp } from '../../output/width.ts';
import { withoutBill } from '../end/end-job.ts';
import type { Job, JobPlan, Together } from '../job.ts';
import { createPhases, filesText, namesText, type Phase } from '../phases.ts';
import { note, timeNow } from '../record/note.ts';
import { orAborted } from '../remote/within.ts';
import { withoutExitCode } from '../stages/without-exit-code.ts';
import type { Observation } from '../state.ts';
import type { Stops } from '../stops.ts';
import { writeInventories } from './inventories.ts';
import { type LocalCommand, type Signals, startHere } from './local-command.ts';
import { createPace } from './pace.ts';

/** Milliseconds until SIGKILL for a command that another instance's deadline stopped. */
const PATIENCE = 10_000;

/** What the members of `run --here` share: the command on this computer, and how the run stands. */
export class HereRun implements Together {
  readonly gate = createGate(AT_ONCE);
  readonly gates: Gates = {
    sending: createGate(AT_ONCE),
    reading: createGate(READS_AT_ONCE),
  };
  readonly pace;
  readonly #phases;
  readonly #needless = new AbortController();
  /** Aborts if too few instances are left, since the others would bill in vain. */
  readonly needless = this.#needless.signal;
  /** Why an instance was not rented, was left out, or has no results, by its name. */
  readonly faults = new Map<string, CliError>();
  /** The members that the command uses. */
  readonly ready = new Set<Job>();
  /** Why the run stopped early, and in which phase. */
  failure: CliError | undefined;
  stage: Phase | 'done' = 'done';
  exitCode: number | undefined;
  #isRented = false;
  /** The names of the instances to terminate in the end. */
  readonly #living = new Set<string>();
  /** The bytes of each instance's current copy, and their total; 0 if unknown. */
  readonly #copied = new Map<string, { readonly count: number; readonly total: number }>();
  #command: Promise<LocalCommand> | undefined;
  #last: AbortSignal | undefined;
  #usable = 0;

  constructor(
    readonly plan: JobPlan,
    readonly folder: string,
    readonly context: Context,
  ) {
    const { names } = plan;
    this.pace = createPace(names);
    this.#phases = createPhases(namesText(names), context);
    this.#phases.begin('renting');
  }

  get isStarted(): boolean {
    return this.#command !== undefined;
  }

  get what(): string {
    return namesText(this.#members().map(({ record }) => record.name));
  }

  fail(reason: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = asCliError(reason);
    this.stage = this.#phases.current;
  }

  #giveUp(reason: CliError): void {
    this.fail(reason);
    this.#needless.abort(this.failure);
  }

  /** Waits for the outcomes of all requests, of which one may have failed. */
  async rented(name: string, error?: CliError): Promise<void> {
    const { plan, context, faults } = this;
    if (error === undefined) this.#living.add(name);
    else faults.set(name, error);
    await this.pace.reach(name, 'rented');
    if (this.#isRented) return;
    this.#isRented = true;
    this.#phases.clear();
    const rented = plan.names.filter((one) => !faults.has(one));
    this.#usable = rented.length;
    const failed = plan.names.flatMap((one) => {
      const fault = faults.get(one);
      return fault === undefined ? [] : [[one, fault] as const];
    });
    const isEnough = rented.length >= leastOf(plan);
    const [first] = failed;
    if (context.signal.aborted) this.fail(context.signal.reason);
    else if (first !== undefined) {
      for (const [one, { message }] of isEnough ? failed : failed.slice(1)) {
        context.err.warn('incomplete', `Could not rent ${one}: ${message}`);
      }
      if (!isEnough) this.#giveUp(fewerThanLeast('rented', nameIn(...first, plan), plan));
    }
    if (this.failure !== undefined) return;
    const copying = plan.files && `, copying ${filesText(plan.files)} to each instance`;
    this.#phases.begin('starting', `${namesText(rented)}${copying ?? ''}`);
  }

  /** Shows the sum of all copies. The total is known once each instance has reported its own. */
  copied(name: string, count: number, total = 0): void {
    this.#copied.set(name, { count, total });
    const all = [...this.#copied.values()];
    const expected = this.isStarted ? this.ready.size : this.#usable;
    const isKnown = all.length >= expected && all.every((one) => one.total > 0);
    const sum = (of: 'count' | 'total') => all.reduce((before, one) => before + one[of], 0);
    this.#phases.bytes(sum('count'), isKnown ? sum('total') : 0);
  }

  /** Waits for the other members, and starts the command. */
  async begin(job: Job): Promise<void> {
    this.ready.add(job);
    this.#phases.update(`${this.ready.size} of ${this.#usable} ready`);
    await orAborted(this.pace.reach(job.record.name, 'ready'), job.stops.any);
    await this.#begun();
  }

  #begun(): Promise<LocalCommand> {
    this.#command ??= this.#start();
    return this.#command;
  }

  async #start(): Promise<LocalCommand> {
    const { plan, context, what } = this;
    const phases = this.#phases;
    phases.clear();
    const members = this.#members();
    const instances = members.map(({ instance }) => instance).filter((one) => one !== undefined);
    const stops = jointStops(members);
    this.#last = stops.last;
    const variables = await writeInventories(this.folder, instances, plan.how, context);
    phases.begin('running', clamp(shellLine(plan.command, 'linux'), 50));
    // Clears the progress line, since the command writes to the same terminal.
    phases.clear();
    for (const job of members) await note(job, { command_started_at: timeNow(context) }, context);
    return startHere(plan.toStart, variables, what, stops, context);
  }

  /** Returns the members that the command uses, in the order of their names. */
  #members(): Job[] {
    const order = ({ record }: Job) => this.plan.names.indexOf(record.name);
    return [...this.ready].sort((a, b) => order(a) - order(b));
  }

  /** Goes on without a member, or gives up. */
  leaveOut(job: Job, why: CliError): void {
    const { plan, context, ready } = this;
    ready.delete(job);
    if (this.failure !== undefined) return;
    if (context.signal.aborted) this.fail(context.signal.reason);
    else if (this.isStarted) this.#giveUp(why);
    else {
      const { name } = job.record;
      const fault = nameIn(name, withoutBill(why), plan);
      this.faults.set(name, fault);
      this.#usable -= 1;
      const isEnough = !this.#isRented || this.#usable >= leastOf(plan);
      if (!isEnough) this.#giveUp(fewerThanLeast('prepared', fault, plan));
      else {
        this.#living.delete(name);
        context.err.warn('incomplete', `${sentence(fault.message)} Terminating ${name}.`);
      }
    }
  }

  /** Waits for the command. Throws CliError if it could not start. */
  async followed(job: Job): Promise<Observation> {
    const command = await this.#begun();
    const code = await command.ended;
    if (code !== undefined) {
      this.exitCode = code;
      return { kind: 'exited', code };
    }
    this.fail(this.#last?.aborted === true ? this.#last.reason : withoutExitCode(job));
    if (job.stops.last.aborted) return { kind: 'running' };
    await command.end(PATIENCE);
    return { kind: 'lost' };
  }

  showFetching(): void {
    const { current } = this.#phases;
    if (current !== 'fetching') {
      this.#copied.clear();
      this.#phases.begin('fetching', `from ${this.what}`);
    }
  }

  showTerminating(): void {
    const kept = this.#members().flatMap(({ record }) => (record.kept === null ? [] : record.name));
    const ending = this.plan.names.filter((one) => this.#living.has(one) && !kept.includes(one));
    if (this.#phases.current === 'terminating' || ending.length === 0) return;
    this.#phases.begin('terminating', namesText(ending));
  }

  /** Kills the command if it does not exit within these milliseconds. */
  async end(patience: number): Promise<void> {
    this.#phases.clear();
    const command = await this.#command?.catch(() => undefined);
    await command?.end(patience);
  }
}

function leastOf({ names, here }: JobPlan): number {
  return here?.minCount ?? names.length;
}

function fewerThanLeast(done: string, first: CliError, { here }: JobPlan): CliError {
  if (here?.minCount === undefined) return first;
  return first.with(
    `Fewer than ${here.minCount} instances (--min-count) could be ${done}. ${first.message}`,
  );
}

/** Names the instance in its error. */
function nameIn(name: string, error: CliError, { names }: JobPlan): CliError {
  const isClear = names.length === 1 || error.message.startsWith(name);
  return isClear ? error : error.with(`${name}: ${error.message}`);
}

/**
 * Combines the stops of all instances: gpucloud stops the command at the first deadline, interrupt
 * or `jobs stop`.
 */
function jointStops(members: readonly Job[]): Signals & Pick<Stops, 'any'> {
  const joint = (kind: 'any' | keyof Signals) =>
    AbortSignal.any(members.map(({ stops }) => stops[kind]));
  return {
    any: joint('any'),
    near: joint('near'),
    half: joint('half'),
    asked: joint('asked'),
    last: joint('last'),
  };
}
