import {
  type AnyCommand,
  about,
  isNamed,
  lastOption,
  type Option,
} from '../../command-line/command.ts';
import { valueOfArgument, valueOfFlag } from '../../command-line/reference/completion-values.ts';
import { SHELLS } from '../../completion/index.ts';
import { continuing, openNames, spelledOtherwise } from '../../completion/names.ts';
import { questionOf } from '../../completion/reply.ts';
import type { Answer, Candidate, CompletionValue, NameKind } from '../../completion/values.ts';
import type { Host } from '../../context.ts';
import { jobsIn } from '../../jobs/record/record.ts';

/** Builds the tree that runs, as far as the words of a command line need it. */
type Build = (words: readonly string[]) => AnyCommand;

/** Answers a completion script: `bash LINE REPLACED` or `zsh WORD...`. */
export async function complete(
  [shell, ...given]: readonly string[],
  build: Build,
  host: Host,
): Promise<string> {
  const known = SHELLS.find((one) => one === shell);
  if (known === undefined) return '';
  const { words, reply } = questionOf(known, given);
  const lines = reply(await answerFor(words, build, host));
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns what may follow. The last word is the one at the cursor. */
export async function answerFor(
  words: readonly string[],
  build: Build,
  host: Host,
): Promise<Answer> {
  const position = positionIn(build, words);
  const names = async (kind: NameKind) => {
    const { profile, baseUrl } = position;
    const known = openNames(host, { ...(profile && { profile }), ...(baseUrl && { baseUrl }) });
    const all = kind === 'job' ? known.ofJobs(jobsIn(known.state)) : await known.of(kind);
    const unused = all.filter(({ value }) => !position.used.includes(value));
    return continuing(unused, position.typed);
  };
  const answer = await answerAt(position, names);
  const { value, typed } = position;
  const isName = value.kind === 'names' || value.kind === 'path';
  const others = isName ? spelledOtherwise(answer.values, typed) : [];
  return others.length === 0 ? answer : { ...answer, values: others, replaces: true };
}

interface Position {
  readonly value: CompletionValue | { readonly kind: 'candidates'; readonly all: Candidate[] };
  /** The typed part of the value: `name,si` of `--columns=name,si`. */
  readonly typed: string;
  /** The part of the word that stays before it: `--columns=`. */
  readonly before: string;
  /** Arguments before the cursor. */
  readonly used: readonly string[];
  readonly profile: string | undefined;
  readonly baseUrl: string | undefined;
}

/** Walks the words before the cursor as commander would parse them. */
function positionIn(build: Build, words: readonly string[]): Position {
  const typed = words.at(-1) ?? '';
  const earlier = words.slice(0, -1);
  let command = build(earlier);
  /** Topics of `help`, which may follow its name; undefined outside of it. */
  let topics: readonly string[] | undefined;
  let pending: Option | undefined;
  let isLiteral = false;
  const used: string[] = [];
  const given = new Map<string | undefined, string>();
  for (const [at, word] of earlier.entries()) {
    if (pending !== undefined) {
      given.set(pending.long, word);
      pending = undefined;
    } else if (!isLiteral && word === '--') {
      isLiteral = true;
    } else if (!isLiteral && word.startsWith('-') && word !== '-') {
      const { flag, value } = flagIn(word, command);
      if (value !== undefined) given.set(flag?.long, value);
      else if (flag?.required) pending = flag;
    } else {
      const next = isLiteral ? undefined : namedBelow(command, word);
      if (next === undefined) {
        used.push(word);
        isLiteral ||= used.length > (about(command).ownWords ?? Number.POSITIVE_INFINITY);
        continue;
      }
      command = next;
      const [first] = command.registeredArguments;
      const value = first && valueOfArgument(command, first);
      if (value?.kind === 'command' && topics === undefined) {
        ({ topics } = value);
        command = build(earlier.slice(at + 1));
      }
    }
  }
  const common = { used, profile: given.get('--profile'), baseUrl: given.get('--base-url') };
  const found = (value: Position['value'] = { kind: 'free' }, before = ''): Position => ({
    ...common,
    value,
    typed: typed.slice(before.length),
    before,
  });
  if (pending !== undefined) return found(valueOfFlag(command, pending));
  if (!isLiteral && typed.startsWith('-')) {
    if (topics !== undefined) return found();
    const [name = ''] = /^--[^=]+=/.exec(typed) ?? [];
    if (name === '') return found({ kind: 'candidates', all: flagsOf(command) });
    const { flag } = flagIn(name, command);
    return found(flag && valueOfFlag(command, flag), name);
  }
  if (command.commands.length > 0) {
    if (used.length > 0) return found();
    const all = command.createHelp().visibleCommands(command).map(named);
    const isRoot = command.parent === null;
    const pages = isRoot ? (topics ?? []).map((value) => ({ value, help: 'topic' })) : [];
    return found({ kind: 'candidates', all: [...all, ...pages] });
  }
  if (topics !== undefined) return found();
  const args = command.registeredArguments;
  const last = args.at(-1);
  const argument = args[used.length] ?? (last?.variadic ? last : undefined);
  return found(argument && valueOfArgument(command, argument));
}

async function answerAt(
  { value, typed, before }: Position,
  names: (kind: NameKind) => Promise<Candidate[]>,
): Promise<Answer> {
  const plain = { before, values: [], files: false };
  switch (value.kind) {
    case 'candidates':
      return { ...plain, values: value.all };
    case 'words':
      return { ...plain, values: value.words.map(bare) };
    case 'sort':
      return {
        ...plain,
        before: before + (typed.startsWith('-') ? '-' : ''),
        values: value.words.map(bare),
      };
    case 'list': {
      const begun = typed.slice(0, typed.lastIndexOf(',') + 1);
      const given = begun.split(',');
      const left = value.words.filter((word) => !given.includes(word));
      return { ...plain, before: before + begun, values: left.map(bare), continues: 'list' };
    }
    case 'names': {
      const values: Candidate[] = [];
      for (const kind of value.of) values.push(...(await names(kind)));
      return { ...plain, values };
    }
    case 'path': {
      // Only the instance knows the paths after the colon, and `:/@` before it would be misread.
      if (/^[^/]*:/.test(typed)) return plain;
      const hosts = (await names('instance')).filter((one) => !/[:/@]/.test(one.value));
      const values = hosts.map((one) => ({ ...one, value: `${one.value}:` }));
      return { ...plain, values, files: true, continues: 'path' };
    }
    case 'file':
      return { ...plain, files: true };
    default:
      return plain;
  }
}

/** Finds the flag of `--output=json`, `-o` or the last of `-yo`, and its value after `=`. */
function flagIn(word: string, command: AnyCommand) {
  const [name = '', value] = word.includes('=') ? word.split(/=(.*)/s, 2) : [word];
  return { flag: lastOption(name, command.options), value };
}

function namedBelow(command: AnyCommand, word: string): AnyCommand | undefined {
  return command
    .createHelp()
    .visibleCommands(command)
    .find((below) => isNamed(below, word));
}

function flagsOf(command: AnyCommand): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, short, description: help }) =>
      [long, short].flatMap((value) => (value === undefined ? [] : [{ value, help }])),
    );
}

function named(command: AnyCommand): Candidate {
  return { value: command.name(), help: command.summary() };
}

function bare(value: string): Candidate {
  return { value, help: '' };
}
