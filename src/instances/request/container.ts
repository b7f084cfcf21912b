import type { CreateInstanceFields } from '../../api/index.ts';
import { readText } from '../../cli/input.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import {
  type EnvironmentVariable,
  environmentKey,
  environmentVariable,
  type Port,
  publishedTwice,
  type Volume,
} from '../../rules/container.ts';
import type { Verdict } from '../../rules/rule.ts';

/** The container flags, named as in docker. */
export interface ContainerFlags {
  readonly dockerImage?: string | undefined;
  readonly dockerCommand?: string | undefined;
  readonly shmSize?: number | undefined;
  readonly port?: readonly Port[] | undefined;
  readonly env?: readonly string[] | undefined;
  readonly envFile?: readonly string[] | undefined;
  readonly anyEnvKey?: boolean | undefined;
  readonly volume?: readonly Volume[] | undefined;
}

/**
 * The fields of `docker_config` set by flags, except the image; without its flag, a field is
 * missing.
 */
export type ContainerPatch = NonNullable<CreateInstanceFields['docker_config']>;

/**
 * Builds the `docker_config` fields from the flags. `--env` wins over `--env-file`. A variable
 * without a value is read from the environment, as docker does, which keeps secrets out of argv.
 */
export async function containerOf(
  flags: ContainerFlags,
  context: Context,
): Promise<ContainerPatch> {
  const place = publishedTwice(flags.port ?? []);
  if (place !== undefined) {
    throw usageError(`--port "${place}": the external port is published twice`);
  }
  const env = await environmentOf(flags, context);
  return {
    ...(flags.dockerImage === undefined ? {} : { image: flags.dockerImage }),
    ...(flags.dockerCommand === undefined ? {} : { run_command: flags.dockerCommand }),
    ...(flags.shmSize === undefined ? {} : { shm_size_gb: flags.shmSize }),
    ...(flags.port === undefined ? {} : { ports: [...flags.port] }),
    ...(env.length === 0 ? {} : { env }),
    ...(flags.volume === undefined ? {} : { volumes: [...flags.volume] }),
  };
}

async function environmentOf(
  flags: ContainerFlags,
  context: Context,
): Promise<EnvironmentVariable[]> {
  const variables = new Map<string, EnvironmentVariable>();
  const add = (where: string, text: string) => {
    const variable = variableOf(where, text, flags.anyEnvKey === true, context.env);
    variables.set(variable.key, variable);
  };
  for (const path of flags.envFile ?? []) {
    const lines = (await readText('--env-file', path, context)).split(/\r?\n/);
    for (const [at, line] of lines.entries()) {
      if (line.trim() !== '' && !line.trimStart().startsWith('#')) {
        add(`--env-file ${path}, line ${at + 1}`, line);
      }
    }
  }
  for (const text of flags.env ?? []) {
    add('--env', text);
  }
  return [...variables.values()];
}

function variableOf(
  where: string,
  text: string,
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
      'to send it anyway: --any-env-key',
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
