import { brokenRule } from '../command-line/parse.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { refused } from '../instances/rent/purse.ts';
import { findInstance } from '../instances/resolve.ts';
import { parseFetch } from '../jobs/files/copy-out.ts';
import { contains, realPath } from '../jobs/files/merge.ts';
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
  const known = tool.parameters.map(({ name }) => name);
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const message = `${tool.name}: unknown argument "${unknown.slice(0, 80)}"`;
    throw usageError(message, `use ${known.join(', ')}`);
  }
  const flags: string[] = [];
  const words: string[] = [];
  for (const parameter of tool.parameters) {
    const { name, flag, required } = parameter;
    const values = valuesOf(parameter, given[name]);
    // Otherwise the next argument would take its place.
    if (required && values.length === 0) throw usageError(`${tool.name}: "${name}" is missing`);
    for (const value of values) {
      const text = value === true ? '' : await checkedValue(parameter, value, ownSession, context);
      if (flag === undefined) words.push(text);
      else flags.push(value === true ? flag : `${flag}=${text}`);
    }
  }
  return [...tool.words, ...flags, ...added, '--json', '--no-input', '--', ...words];
}

function valuesOf({ name, takes }: Parameter, given: unknown): (string | true)[] {
  if (given === undefined) return [];
  const isSwitch = takes === 'nothing' || takes === 'optional';
  if (isSwitch && typeof given === 'boolean') return given ? [true] : [];
  const list = Array.isArray(given) && takes === 'several' ? given : [given];
  const texts = list.filter((one) => typeof one === 'string' || Number.isFinite(one)).map(String);
  if (takes !== 'nothing' && texts.length === list.length) return texts;
  const form = takes === 'several' ? 'a list of strings' : 'a string';
  throw usageError(`"${name}" must be ${takes === 'nothing' ? 'true or false' : form}`);
}

async function checkedValue(
  { name, holds }: Parameter,
  text: string,
  ownSession: string | undefined,
  context: Context,
): Promise<string> {
  if (text.includes('\0')) throw usageError(`"${name}" must not contain NUL`);
  // LOCAL would default to a folder with the name of the instance.
  if (holds === 'rescue' && !/^[^:]+:./.test(text)) {
    throw usageError(`"${name}" must be REMOTE:LOCAL`);
  }
  // Without a value, the command would copy the variable of this computer.
  if (holds === 'variable' && !text.includes('=')) throw usageError(`"${name}" must be KEY=VALUE`);
  if (holds === 'path') await checkPath(name, text, context);
  if (holds === 'fetch' || holds === 'rescue') {
    await checkPath(name, parseFetch(text).local, context);
  }
  if (holds !== 'instance' || ownSession === undefined) return text;
  // Returns the ID, so that the name can't mean another instance when the command runs.
  const { id } = await findInstance(text, context, { changes: true });
  const found = await (await context.journal()).instance(id);
  if (found.kind === 'known' && found.instance.session?.id === ownSession) return id;
  const hint = 'use an instance of this session: read gpucloud://purse';
  throw refused(`This session did not rent "${text}".`, hint);
}

/** Accepts paths below the folder in which the server started, without gpucloud's own folders. */
async function checkPath(name: string, text: string, context: Context): Promise<void> {
  if (text === '-') throw brokenRule(name, text, 'must be a path');
  const [root, path] = [await realPath('.'), await realPath(text)];
  if (!contains(root, path)) throw brokenRule(name, text, `must be below ${root}`);
  const { config, state } = await context.folders();
  for (const folder of [await realPath(config), await realPath(state)]) {
    if (contains(folder, path) || contains(path, folder)) {
      throw brokenRule(name, text, "must not contain gpucloud's own folders");
    }
  }
}
