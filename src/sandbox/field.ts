import type { Rule, Verdict } from '../rules/rule.ts';

interface CheckContext<T> {
  value: T;
  issues: { push(issue: { code: 'custom'; message: string; input: T }): unknown };
}

/** Returns a zod check that applies a documented rule. */
export function follows<R>(rule: Rule<R>): (context: CheckContext<string>) => void {
  return (context) => judge(context, rule(context.value));
}

/**
 * Returns a zod check that applies a documented rule to a number in a body. The rules accept only
 * text of plain decimal digits, so a number with an exponent or a fraction fails.
 */
export function followsAsText<R>(rule: Rule<R>): (context: CheckContext<number>) => void {
  return (context) => judge(context, rule(String(context.value)));
}

function judge<T, R>(context: CheckContext<T>, verdict: Verdict<R>): void {
  if (!verdict.ok) {
    context.issues.push({ code: 'custom', message: verdict.rule, input: context.value });
  }
}
