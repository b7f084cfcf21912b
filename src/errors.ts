/**
 * Every way in which a command can end, with its exit code.
 *
 * The key is the machine-readable `code` of an error in JSON mode (in snake_case, see
 * {@link CliError.code}); the number is the process's exit code. Both are a contract with scripts.
 */
export const FAILURES = {
  refused: { exit: 1, meaning: 'the service refused, or an unexpected error' },
  usage: {
    exit: 2,
    meaning: 'wrong usage, a local rule, or a confirmation that needs --yes',
  },
  notFound: { exit: 3, meaning: 'not found' },
  authentication: { exit: 4, meaning: 'no key, or the key was refused (401, 403)' },
  wrongState: { exit: 5, meaning: 'wrong state or not enough funds' },
  unreachable: {
    exit: 6,
    meaning: 'could not reach the service; nothing was changed',
  },
  outcomeUnknown: {
    exit: 7,
    meaning: 'outcome unknown: it may have been done and may be billing',
  },
  deadline: { exit: 8, meaning: 'timed out while waiting' },
  storage: { exit: 9, meaning: 'could not write to disk or to stdout' },
  notUnderstood: { exit: 10, meaning: 'the response could not be read' },
  rateLimited: { exit: 11, meaning: 'rate limited' },
  otherEnd: { exit: 12, meaning: 'the instance ended in another status' },
  hungUp: { exit: 129, meaning: 'hang-up' },
  interrupted: { exit: 130, meaning: 'interrupt' },
  terminated: { exit: 143, meaning: 'termination' },
} as const;

export type Failure = keyof typeof FAILURES;

/** Codes in JSON mode that say more than their failure's own, with the same exit code. */
export const FINER_CODES = [
  { failure: 'usage', code: 'guard', meaning: 'a guard of the profile refuses to rent' },
  { failure: 'refused', code: 'unavailable', meaning: 'the service is not available (503)' },
  {
    failure: 'authentication',
    code: 'exposed_key',
    meaning: 'other users can change the config file, so its key is not used',
  },
  { failure: 'wrongState', code: 'name_taken', meaning: 'an instance with this name exists' },
  { failure: 'wrongState', code: 'insufficient_funds', meaning: 'the balance is too low' },
  {
    failure: 'wrongState',
    code: 'conflict',
    meaning: 'the name may be taken, or the balance too low',
  },
  {
    failure: 'rateLimited',
    code: 'unavailable',
    meaning: 'the service is not available (503), and asks to wait longer than --timeout',
  },
] as const satisfies readonly { failure: Failure; code: string; meaning: string }[];

/** The machine-readable code of a failure: `not_found`, `outcome_unknown`. */
export function codeOf(failure: Failure): string {
  return failure.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** An entry of the service's log of a machine (API document: Instance event). */
export interface LoggedEvent {
  /** ISO 8601, as the service gave it. */
  readonly created_at: string;
  readonly type: string;
  readonly message: string;
}

/** The request to the service that failed. The next command is chosen from it, see `cli/hints.ts`. */
export interface FailedRequest {
  /** The operation, as the API document heads it: `POST /instances/{id}/stop`. */
  readonly operation: string;
  /** The id or name that it is about. */
  readonly about?: string;
  /** What kept the service from responding: nothing of its own. */
  readonly obstacle?: 'deadline' | 'network' | 'web page';
}

export interface ErrorDetails {
  /** One of {@link FINER_CODES}. */
  code?: string | undefined;
  /** What to do next, best an exact command. */
  hint?: string | undefined;
  request?: FailedRequest | undefined;
  /** The HTTP status of the answer that caused it, where there was one. */
  httpStatus?: number | undefined;
  /** Whether the very same command may succeed later, and is safe to repeat. */
  retryable?: boolean;
  /** The id or name of the thing that the error is about. */
  resource?: string | undefined;
  /** Whether a machine may exist, and cost money, although the command failed. */
  mayBeBilling?: boolean;
  /** The last of what the service logged about the thing, oldest first. */
  events?: readonly LoggedEvent[];
  /** Prints no message: a person ended a view that has no end. The exit code stands. */
  silent?: boolean;
  /** Milliseconds that the service asked to wait before the next request. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/**
 * An error that a person or a script is told about: one kind of {@link FAILURES}, words, and the
 * remedy. It is thrown where the fault is known and worded once, in `run.ts`.
 *
 * The message never holds a secret, and text from outside is cleaned before it is printed.
 */
export class CliError extends Error {
  readonly failure: Failure;
  /** The machine-readable code: `not_found`, `outcome_unknown`. */
  readonly code: string;
  readonly hint: string | undefined;
  readonly request: FailedRequest | undefined;
  readonly httpStatus: number | undefined;
  readonly retryable: boolean;
  readonly resource: string | undefined;
  readonly mayBeBilling: boolean;
  readonly events: readonly LoggedEvent[];
  readonly silent: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(failure: Failure, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'CliError';
    this.failure = failure;
    this.code = details.code ?? codeOf(failure);
    this.hint = details.hint;
    this.request = details.request;
    this.httpStatus = details.httpStatus;
    this.retryable = details.retryable ?? false;
    this.resource = details.resource;
    this.mayBeBilling = details.mayBeBilling ?? false;
    this.events = details.events ?? [];
    this.silent = details.silent ?? false;
    this.retryAfterMs = details.retryAfterMs;
  }

  /**
   * The same failure with another message. Keeps every detail that is not replaced; `this` is its
   * cause.
   */
  with(message: string, details: ErrorDetails = {}): CliError {
    return new CliError(this.failure, message, {
      code: this.code,
      hint: this.hint,
      request: this.request,
      httpStatus: this.httpStatus,
      retryable: this.retryable,
      resource: this.resource,
      mayBeBilling: this.mayBeBilling,
      events: this.events,
      silent: this.silent,
      retryAfterMs: this.retryAfterMs,
      cause: this,
      ...details,
    });
  }

  get exitCode(): number {
    return FAILURES[this.failure].exit;
  }
}

export const INTERRUPTS = ['interrupted', 'terminated', 'hungUp'] as const satisfies Failure[];

/** Whether a person or the system ended the work: Ctrl-C, a signal to terminate, a closed terminal. */
export function isInterrupt(error: unknown): error is Interrupt {
  return error instanceof CliError && INTERRUPTS.some((failure) => failure === error.failure);
}

interface Interrupt extends CliError {
  readonly failure: (typeof INTERRUPTS)[number];
}

/**
 * Whether a fault of one reading of several leaves the others alone. A refused key, an interrupt and
 * a fault of our own don't.
 */
export function isOfOneReading(error: unknown): error is CliError {
  return error instanceof CliError && error.failure !== 'authentication' && !isInterrupt(error);
}

const FAULT_HINT =
  'this is a fault of gpucloud itself; run the command with --debug and report what it prints';

/** What nobody foresaw, in words. What was thrown is its cause. */
export function unforeseen(thrown: unknown): CliError {
  // Parts of Node itself look for it, and the sandbox looks at them.
  if (thrown instanceof ReferenceError && thrown.message === 'WebAssembly is not defined') {
    return new CliError('refused', 'Node runs without WebAssembly, which gpucloud needs.', {
      hint: 'start node without --jitless, which may stand in NODE_OPTIONS too',
      cause: thrown,
    });
  }
  const words = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return new CliError('refused', `Something unexpected happened: ${words}`, {
    hint: FAULT_HINT,
    cause: thrown,
  });
}

/** What was thrown in the place of a {@link CliError}, where a failure comes from that. */
export function unforeseenIn(failure: CliError | undefined): Error | undefined {
  const cause = failure?.cause;
  if (cause instanceof CliError) return unforeseenIn(cause);
  return failure?.hint === FAULT_HINT && cause instanceof Error ? cause : undefined;
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError('usage', message, { hint });
}

/** How grave each failure is when several happen in one command, gravest first. */
const GRAVITY: readonly Failure[] = [
  'outcomeUnknown',
  'storage',
  'terminated',
  'interrupted',
  'hungUp',
  'notUnderstood',
  'refused',
  'authentication',
  'unreachable',
  'rateLimited',
  'otherEnd',
  'wrongState',
  'deadline',
  'notFound',
  'usage',
];

/** The error that decides the exit code of a command that handled several things. */
export function worstOf(errors: readonly CliError[]): CliError | undefined {
  return [...errors].sort((a, b) => GRAVITY.indexOf(a.failure) - GRAVITY.indexOf(b.failure))[0];
}

/**
 * Several things were asked for and some failed; its own kind is that of the gravest. A person is
 * told each of them, or the `summary` where one says the same of all.
 */
export class SeveralErrors extends CliError {
  readonly errors: readonly CliError[];
  readonly summary: CliError | undefined;

  constructor(errors: readonly [CliError, ...CliError[]], summary?: CliError) {
    const worst = worstOf(errors) ?? errors[0];
    const asked = errors.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
    super(worst.failure, worst.message, {
      code: worst.code,
      retryable: errors.every((error) => error.retryable),
      mayBeBilling: errors.some((error) => error.mayBeBilling),
      ...(asked.length === 0 ? {} : { retryAfterMs: Math.max(...asked) }),
      hint: worst.hint,
      request: worst.request,
      httpStatus: worst.httpStatus,
      resource: worst.resource,
    });
    this.errors = errors;
    this.summary = summary;
  }
}

/** Throws what went wrong with some of several things; returns if nothing did. */
export function throwAll(errors: readonly CliError[]): void {
  const [first, ...others] = errors;
  if (first !== undefined) {
    throw others.length === 0 ? first : new SeveralErrors([first, ...others]);
  }
}
