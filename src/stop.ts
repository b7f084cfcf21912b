/**
 * What ends work before its time: an interrupt, or a deadline. Any AbortSignal is one. Node compiles
 * what its own signals stand on when the first is made or listened to, which takes a millisecond of
 * every command; so those that every command has are of this kind, see {@link createStop}.
 */
export interface StopSignal {
  readonly aborted: boolean;
  /** Why; undefined before it is aborted. */
  readonly reason: unknown;
  /** `listener` is called at most once. One that is added after the end is not called. */
  addEventListener(type: 'abort', listener: () => void, once?: { once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
  throwIfAborted(): void;
}

/** Ends work; as an AbortController, whose signal it may be given to as well. */
export interface Stop {
  readonly signal: StopSignal;
  /** Does nothing the second time. */
  abort(reason?: unknown): void;
}

export function createStop(): Stop {
  let ended: { readonly reason: unknown } | undefined;
  const listeners: (() => void)[] = [];

  /** One that an earlier one takes back is not called; one that throws keeps no other from it. */
  function callAll(): void {
    const next = listeners.shift();
    if (next === undefined) return;
    try {
      next();
    } finally {
      callAll();
    }
  }

  return {
    signal: {
      get aborted() {
        return ended !== undefined;
      },
      get reason() {
        return ended?.reason;
      },
      addEventListener(_type, listener) {
        if (ended === undefined && !listeners.includes(listener)) listeners.push(listener);
      },
      removeEventListener(_type, listener) {
        const at = listeners.indexOf(listener);
        if (at >= 0) listeners.splice(at, 1);
      },
      throwIfAborted() {
        if (ended !== undefined) throw ended.reason;
      },
    },
    abort(reason = new Error('stopped')) {
      if (ended !== undefined) return;
      ended = { reason };
      callAll();
    },
  };
}

/** Ends as soon as one of them does, with its reason. */
export function firstOf(...signals: readonly StopSignal[]): StopSignal {
  const stop = createStop();
  for (const signal of signals) {
    const end = () => stop.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  }
  return stop.signal;
}
