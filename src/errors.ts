/**
 * Every failure of a command with its exit code, most serious first. The order decides the exit
 * code of a command with several failures (see {@link worstOf}).
 *
 * The key is an error's `code` in JSON modes (in snake_case, see {@link CliError.code}). The key
 * and the exit code are a contract with scripts.
 */
export const FAILURES = {
  outcomeUnknown: {
    exit: 7,
    meaning: 'outcome unknown: the change may have been made and may be billing',
  },
  runFailed: { exit: 125, meaning: "run failed before the command's exit code was known" },
  storage: { exit: 9, meaning: 'could not write to disk or to stdout' },
  terminated: { exit: 143, meaning: 'termination' },
  interrupted: { exit: 130, meaning: 'interrupt' },
  hungUp: { exit: 129, meaning: 'hang-up' },
  notUnderstood: { exit: 10, meaning: 'could not read the response' },
  refused: { exit: 1, meaning: 'the service refused the request, or an unexpected error' },
  authentication: { exit: 4, meaning: 'no key, or the key was refused (401, 403)' },
  unreachable: {
    exit: 6,
    meaning: 'could not reach the service; no changes made',
  },
  rateLimited: { exit: 11, meaning: 'rate limited' },
  otherEnd: { exit: 12, meaning: 'the instance reached another final status' },
  wrongState: { exit: 5, meaning: 'wrong state or not enough funds' },
  deadline: { exit: 8, meaning: 'timed out while waiting' },
  notFound: { exit: 3, meaning: 'not found' },
  usage: {
    exit: 2,
    meaning: 'wrong usage, a local rule, or a confirmation that needs --yes',
  },
} as const;

export type Failure = keyof typeof FAILURES;

/** More specific codes for JSON modes, each with its failure's exit code. */
export const FINER_CODES = [
  { failure: 'usage', code: 'guard', meaning: 'a guard of the profile blocks the request' },
  { failure: 'refused', code: 'unavailable', meaning: 'the service is not available (503)' },
  {
    failure: 'authentication',
    code: 'exposed_key',
    meaning: "other users can change the config file, so gpucloud doesn't use its key",
  },
  {
    failure: 'authentication',
    code: 'exposed_journal',
    meaning: "other users can change the state folder, so gpucloud doesn't use its journal",
  },
  { failure: 'wrongState', code: 'name_taken', meaning: 'an instance with this name exists' },
  { failure: 'wrongState', code: 'finding', meaning: '"gpucloud audit" reported a finding' },
  { failure: 'wrongState', code: 'insufficient_funds', meaning: 'the balance is too low' },
  {
    failure: 'wrongState',
    code: 'conflict',
    meaning: 'the offer may be out of stock, the name taken, or the balance too low',
  },
  {
    failure: 'rateLimited',
    code: 'unavailable',
    meaning: 'the service is not available (503) and requests a pause longer than --timeout',
  },
] as const satisfies readonly { failure: Failure; code: string; meaning: string }[];

/** Returns the machine-readable code of a failure: `not_found`, `outcome_unknown`. */
export function codeOf(failure: Failure): string {
  return failure.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** An entry of an instance's log (API document: Instance event). */
export interface LoggedEvent {
  /** ISO 8601, as sent by the service. */
  readonly created_at: string;
  readonly type: string;
  readonly message: string;
}

/** The failed request. `command-line/hints.ts` chooses the next command from it. */
export interface FailedRequest {
  /** The title in the API document: `POST /instances/{id}/stop`. */
  readonly operation: string;
  /** ID or name of the resource. */
  readonly about?: string;
  /** Why the service could not respond. */
  readonly obstacle?: 'deadline' | 'network' | 'web page';
}

export interface ErrorDetails {
  /** A key of {@link FINER_CODES}. */
  code?: string | undefined;
  /** The next step, ideally an exact command. */
  hint?: string | undefined;
  request?: FailedRequest | undefined;
  /** HTTP status of the response that caused the error, if any. */
  httpStatus?: number | undefined;
  /** Whether the same command may succeed later and can be repeated safely. */
  retryable?: boolean;
  /** ID or name of the affected resource. */
  resource?: string | undefined;
  /** Whether an instance may exist and bill although the command failed. */
  mayBeBilling?: boolean;
  /** The latest log entries about the resource, oldest first. */
  events?: readonly LoggedEvent[];
  /** Exits without a message, as when a user closes an endless view. Keeps the exit code. */
  silent?: boolean;
  /** Milliseconds that the service asked to wait before the next request. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/**
 * An error for people and scripts: a kind of {@link FAILURES}, a message and a hint. The message
 * never contains a secret. Untrusted text is cleaned before printing.
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

  /** Returns the same failure and details with another message, and with `this` as its cause. */
  with(message: string, details: ErrorDetails = {}): CliError {
    return new CliError(this.failure, message, { ...this, cause: this, ...details });
  }

  get exitCode(): number {
    return FAILURES[this.failure].exit;
  }
}

export const INTERRUPTS = ['interrupted', 'terminated', 'hungUp'] as const satisfies Failure[];

/** Whether Ctrl-C, a termination signal or a closed terminal interrupted the work. */
export function isInterrupt(error: unknown): error is Interrupt {
  return error instanceof CliError && INTERRUPTS.some((failure) => failure === error.failure);
}

/** Whether it is Ctrl-C, and no other interrupt. */
export function isCtrlC(error: unknown): error is CliError {
  return error instanceof CliError && error.failure === 'interrupted';
}

interface Interrupt extends CliError {
  readonly failure: (typeof INTERRUPTS)[number];
}

/**
 * Whether a fault affects only one of several reads. A refused key, an interrupt and a bug in
 * gpucloud affect all reads.
 */
export function isOfOneReading(error: unknown): error is CliError {
  return error instanceof CliError && error.failure !== 'authentication' && !isInterrupt(error);
}

const FAULT_HINT = 'this is a bug in gpucloud; run the command with --debug and report the output';

/** Wraps an unexpected error; the thrown value is its cause. */
export function unforeseen(thrown: unknown): CliError {
  // The sandbox and parts of Node use WebAssembly, and Node's settings may disable it.
  if (thrown instanceof ReferenceError && thrown.message === 'WebAssembly is not defined') {
    return new CliError('refused', 'Node.js runs without WebAssembly, which gpucloud needs.', {
      hint: 'start node without --jitless (check NODE_OPTIONS too)',
      cause: thrown,
    });
  }
  const words = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return new CliError('refused', `Unexpected failure: ${words}`, {
    hint: FAULT_HINT,
    cause: thrown,
  });
}

/** Throws anything but a CliError, since it is a bug in gpucloud. */
export function ensureCliError(error: unknown): asserts error is CliError {
  if (!(error instanceof CliError)) throw error;
}

export function asCliError(error: unknown): CliError {
  return error instanceof CliError ? error : unforeseen(error);
}

/** Returns the original error behind a {@link CliError}, if any. */
export function unforeseenIn(failure: CliError | undefined): Error | undefined {
  const cause = failure?.cause;
  if (cause instanceof CliError) return unforeseenIn(cause);
  return failure?.hint === FAULT_HINT && cause instanceof Error ? cause : undefined;
}

/** Says that a known instance may bill. Put it last, and only if the instance may bill. */
export const MAY_BILL = 'It may still be billing.';

/**
 * Returns the error for an unknown outcome after which an instance may be billing (exit code 7).
 * `what` says what is unknown, and that it may be billing.
 */
export function doubt(
  what: string,
  details: Omit<ErrorDetails, 'mayBeBilling'> & { readonly resource: string | undefined },
): CliError {
  return new CliError('outcomeUnknown', what, { ...details, mayBeBilling: true });
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError('usage', message, { hint });
}

/** Returns the error that decides the exit code of a command with several items. */
export function worstOf(errors: readonly CliError[]): CliError | undefined {
  const [first, ...others] = errors;
  return first && others.reduce(graver, first);
}

function graver(a: CliError, b: CliError): CliError {
  const order = Object.keys(FAILURES);
  return order.indexOf(b.failure) < order.indexOf(a.failure) ? b : a;
}

/**
 * Builds the error for several failed items; the most serious error decides the kind. People see
 * each error, or only `summary` if all have the same message.
 */
export class SeveralErrors extends CliError {
  readonly errors: readonly [CliError, ...CliError[]];
  readonly summary: CliError | undefined;

  constructor(errors: readonly [CliError, ...CliError[]], summary?: CliError) {
    const worst = errors.reduce(graver);
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

/** Throws the errors of several items together; returns if there are none. */
export function throwAll(errors: readonly CliError[]): void {
  const [first, ...others] = errors;
  if (first !== undefined) {
    throw others.length === 0 ? first : new SeveralErrors([first, ...others]);
  }
}

/** Returns the callback's error as a list: empty on success. */
export async function failuresOf(work: Promise<unknown>): Promise<CliError[]> {
  try {
    await work;
    return [];
  } catch (error) {
    ensureCliError(error);
    return [error];
  }
}
