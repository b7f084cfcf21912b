import { readText } from '../../command-line/input.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { type EnvironmentVariable, environmentVariable, keyClash } from '../../rules/container.ts';
import type { Rule, Verdict } from '../../rules/rule.ts';
import type { Given } from './given.ts';

/** The rule for names, and how to send other names. */
interface KeyRule {
  readonly rule: Rule<string>;
  readonly hint?: string | undefined;
}

/** An environment variable and its source. */
interface Line {
  readonly where: string;
  readonly text: string;
}

/**
 * Returns the variables of `--env` and `--env-file`; `--env` wins. As in docker, reads a variable
 * without a value from the environment, to keep secrets out of argv.
 */
export async function environmentOf(
  { flags, from }: Pick<Given, 'flags' | 'from'>,
  { rule, hint }: KeyRule,
  context: Context,
): Promise<EnvironmentVariable[]> {
  const sources: Line[][] = [];
  for (const [at, path] of (flags.envFile ?? []).entries()) {
    const flag = from('envFile', at);
    const lines = (await readText(flag, path, context)).split(/\r?\n/);
    sources.push(
      lines
        .map((text, line) => ({ where: `${flag} ${path}, line ${line + 1}`, text }))
        .filter(({ text }) => text.trim() !== '' && !text.trimStart().startsWith('#')),
    );
  }
  sources.push((flags.env ?? []).map((text, at) => ({ where: from('env', at), text })));
  const variables = new Map<string, EnvironmentVariable>();
  for (const lines of sources) {
    const own = lines.map((line) => variableOf(line, { rule, hint }, context.env));
    const clash = keyClash(own.map(({ key }) => key));
    if (clash !== undefined) throw usageError(`${lines[clash.at]?.where}: ${clash.rule}`);
    for (const variable of own) variables.set(variable.key, variable);
  }
  return [...variables.values()];
}

function variableOf(
  { where, text }: Line,
  { rule, hint }: KeyRule,
  environment: Context['env'],
): EnvironmentVariable {
  const variable = text.includes('=')
    ? environmentVariable(text)
    : fromEnvironment(text, environment);
  if (!variable.ok) {
    throw usageError(`${where}: ${variable.rule}`);
  }
  const key = rule(variable.value.key);
  if (!key.ok) throw usageError(`${where} "${variable.value.key}": ${key.rule}`, hint);
  return variable.value;
}

function fromEnvironment(key: string, environment: Context['env']): Verdict<EnvironmentVariable> {
  const value = environment[key];
  return value === undefined
    ? { ok: false, rule: `"${key}" has no value and is not set in the environment` }
    : { ok: true, value: { key, value } };
}
