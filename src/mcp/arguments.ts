import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { checked } from '../command-line/parse.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import { findInstance } from '../instances/resolve.ts';
import { parseFetch } from '../jobs/files/copy-out.ts';
import { contains } from '../jobs/files/merge.ts';
import { broken, kept, type Rule } from '../rules/rule.ts';
import type { Parameter, Tool } from './tools.ts';

/** Characters of all arguments of a call. */
const LONGEST = 64 * 1024;

/** The arguments of a call, without those that are null. */
export type Given = Readonly<Record<string, unknown>>;

/**
 * Returns the words and flags of a call, with the flags that the session adds. A value never becomes
 * a flag: `--flag=value`, and arguments after `--`. With `ownSession`, accepts only the instances of
 * that session. Throws a usage error for anything that is not a parameter of the tool.
 */
export async function argvOf(
  tool: Tool,
  given: Given,
  added: readonly string[],
  ownSession: string | undefined,
  context: Context,
): Promise<string[]> {
  if (JSON.stringify(given).length > LONGEST) {
    throw usageError(`${tool.name}: the arguments are longer than ${LONGEST} characters`);
  }
  const known = new Set(tool.parameters.map(({ name }) => name));
  const unknown = Object.keys(given).find((name) => !known.has(name));
  if (unknown !== undefined) {
    const message = `${tool.name}: unknown argument "${unknown.slice(0, 80)}"`;
    throw usageError(message, `use ${[...known].join(', ')}`);
  }
  const flags: string[] = [];
  const words: string[] = [];
  let missing: string | undefined;
  for (const parameter of tool.parameters) {
    const { name, flag, required } = parameter;
    const values = await valuesOf(parameter, given[name], ownSession, context);
    if (required && values.length === 0) throw usageError(`${tool.name}: "${name}" is missing`);
    if (flag !== undefined) {
      flags.push(...values.map((value) => (value === true ? flag : `${flag}=${value}`)));
    } else if (values.length > 0 && missing !== undefined) {
      throw usageError(`${tool.name}: "${name}" needs "${missing}"`);
    } else {
      if (values.length === 0) missing = name;
      words.push(...values.map(String));
    }
  }
  return [...tool.words, ...flags, ...added, '--json', '--no-input', '--', ...words];
}

async function valuesOf(
  parameter: Parameter,
  given: unknown,
  ownSession: string | undefined,
  context: Context,
): Promise<(string | true)[]> {
  const { name, takes } = parameter;
  if (given === undefined) return [];
  if (takes === 'nothing' || (takes === 'optional' && typeof given === 'boolean')) {
    if (typeof given !== 'boolean') throw usageError(`"${name}" must be true or false`);
    return given ? [true] : [];
  }
  const list = Array.isArray(given) && takes === 'several' ? given : [given];
  const values: string[] = [];
  for (const one of list) {
    if (typeof one !== 'string' && !(typeof one === 'number' && Number.isFinite(one))) {
      const form = takes === 'several' ? 'a list of strings' : 'a string';
      throw usageError(`"${name}" must be ${form}`);
    }
    values.push(await checkedValue(parameter, String(one), ownSession, context));
  }
  return values;
}

async function checkedValue(
  { name, holds }: Parameter,
  text: string,
  ownSession: string | undefined,
  context: Context,
): Promise<string> {
  switch (holds) {
    case 'path':
    case 'fetch':
    case 'rescue':
      // LOCAL would default to a folder with the name of the instance.
      if (holds === 'rescue' && !/^[^:]+:./.test(text)) {
        throw usageError(`"${name}" must be REMOTE:LOCAL`);
      }
      checked(name, holds === 'path' ? text : parseFetch(text).local, await localPath(context));
      return text;
    case 'variable':
      // Without a value, the command would copy the variable of this computer.
      if (!text.includes('=')) throw usageError(`"${name}" must be KEY=VALUE`);
      return text;
    case 'instance':
      return ownSession === undefined ? text : ownInstance(text, ownSession, context);
    default:
      return text;
  }
}

/** Returns the ID, so that the name can't mean another instance when the command runs. */
async function ownInstance(typed: string, session: string, context: Context): Promise<string> {
  const { id } = await findInstance(typed, context, { changes: true });
  const found = await (await context.journal()).instance(id);
  if (found.kind === 'known' && found.instance.session?.id === session) return id;
  throw new CliError('usage', `This session did not rent "${typed}". Nothing was sent.`, {
    code: 'guard',
    hint: 'use an instance of this session: read gpucloud://purse',
  });
}

/** Accepts paths below the folder in which the server started, without gpucloud's own folders. */
async function localPath(context: Context): Promise<Rule<string>> {
  const root = realPath('.');
  const { config, state } = await context.folders();
  const secret = [config, state].map(realPath);
  return (text) => {
    if (text === '-' || text.includes('\0')) return broken('must be a path');
    const path = realPath(text);
    if (!contains(root, path)) return broken(`must be below ${root}`);
    const holds = secret.some((folder) => contains(folder, path) || contains(path, folder));
    return holds ? broken("must not contain gpucloud's own folders") : kept(text);
  };
}

/** Resolves links in the part of a path that exists. */
function realPath(path: string): string {
  const full = resolve(path);
  try {
    return realpathSync(full);
  } catch {
    return dirname(full) === full ? full : join(realPath(dirname(full)), basename(full));
  }
}
