import { broken, kept, type Verdict } from './rule.ts';

export interface EnvironmentVariable {
  key: string;
  value: string;
}

/**
 * A key of `docker_config.env`. The document says "a valid environment key" and shows no rule, so
 * this is the usual one of POSIX shells; a flag of `instances create` lets other keys through.
 */
export function environmentKey(text: string): Verdict<string> {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text)
    ? kept(text)
    : broken('an environment key holds letters, digits and "_" and does not start with a digit');
}

/**
 * `KEY=VALUE`, the value taken as it is, which may be empty and may hold `=`.
 * The rule never repeats the value, which is a secret more often than not.
 */
export function environmentVariable(text: string): Verdict<EnvironmentVariable> {
  const at = text.indexOf('=');
  if (at < 1) {
    return broken('an environment variable is written KEY=VALUE');
  }
  return kept({ key: text.slice(0, at), value: text.slice(at + 1) });
}
