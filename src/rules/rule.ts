/**
 * Checks a documented rule for a text before it may reach the service.
 *
 * A rule does not throw and knows no flags. The caller writes the message: the command line names a
 * flag, and the sandbox a field of a body.
 */
export type Rule<T> = (text: string) => Verdict<T>;

export type Verdict<T> =
  | { readonly ok: true; readonly value: T }
  /** `rule` completes the sentence "…: RULE", in lower case and without a full stop. */
  | { readonly ok: false; readonly rule: string };

export function kept<T>(value: T): Verdict<T> {
  return { ok: true, value };
}

export function broken(rule: string): Verdict<never> {
  return { ok: false, rule };
}
