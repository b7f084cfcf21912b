import { readText } from '../../command-line/input.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import {
  type EnvironmentVariable,
  environmentKey,
  environmentVariable,
  keyClash,
} from '../../rules/container.ts';
import type { Verdict } from '../../rules/rule.ts';
import type { Given } from './given.ts';

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
  context: Context,
): Promise<EnvironmentVariable[]> {
  const sources: Line[][] = [];
  for (const path of flags.envFile ?? []) {
    const lines = (await readText('--env-file', path, context)).split(/\r?\n/);
    sources.push(
      lines
        .map((text, at) => ({ where: `--env-file ${path}, line ${at + 1}`, text }))
        .filter(({ text }) => text.trim() !== '' && !text.trimStart().startsWith('#')),
    );
  }
  sources.push((flags.env ?? []).map((text, at) => ({ where: from('env', at), text })));
  const variables = new Map<string, EnvironmentVariable>();
  for (const lines of sources) {
    const own = lines.map((line) => variableOf(line, flags.anyEnvKey === true, context.env));
    const clash = keyClash(own.map(({ key }) => key));
    if (clash !== undefined) throw usageError(`${lines[clash.at]?.where}: ${clash.rule}`);
    for (const variable of own) variables.set(variable.key, variable);
  }
  return [...variables.values()];
}

function variableOf(
  { where, text }: Line,
  anyKey: boolean,
  environment: Context['env'],
): EnvironmentVariable {
  const variable = text.includes('=')
    ? environmentVariable(text)
    : fromEnvironment(text, environment);
  if (!variable.ok) {
    throw usageError(`${where}: ${variable.rule}`);
  }
  const key = environmentKey(variable.value.key);
  if (!key.ok && !anyKey) {
    throw usageError(
      `${where} "${variable.value.key}": ${key.rule}`,
      'add --any-env-key to send it anyway',
    );
  }
  return variable.value;
}

function fromEnvironment(key: string, environment: Context['env']): Verdict<EnvironmentVariable> {
  const value = environment[key];
  return value === undefined
    ? { ok: false, rule: `"${key}" has no value and is not set in the environment` }
    : { ok: true, value: { key, value } };
}
