import { join, resolve } from 'node:path';
import type { Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import {
  type CheckedEnds,
  type DeadlineFlags,
  isRescueWanted,
  type ToRescue,
  wantedDeadline,
} from '../../instances/deadlines/deadline.ts';
import { kopecksText } from '../../rules/money.ts';
import { findKey } from '../../ssh/sign-in.ts';
import { type Fetch, parseFetch } from '../files/copy-out.ts';
import { isPattern } from '../files/pattern.ts';
import { absolute, ensureTargets } from '../targets.ts';
import { rescueTools } from './pass.ts';

const FLAG = '--rescue';

/** Where the flags come from: the command line, or a file. */
interface Source {
  from(item: number): string;
  /** Returns a local path relative to the current folder. */
  path(local: string): string;
}

const TYPED: Source = { from: () => FLAG, path: (local) => local };

/** The service may return any name. */
function folderName(name: string): string {
  return name.replace(/[/\\\0]/g, '-').replace(/^\.+/, '_');
}

/** Parses one path. The copy goes to LOCAL, or to a folder with the instance's name. */
function parsePath(text: string, { from, path }: Source, at: number, isSeveral: boolean) {
  if (text === 'none') throw usageError(`${from(at)}: "none" can't be combined with paths`);
  const { remote, local } = parseFetch(text, from(at));
  // parseFetch has completed LOCAL, so only its own colon tells whether it was given.
  const isGiven = text.replace(/:$/, '').length > remote.length && text.includes(':');
  if (!isGiven) {
    const name = isPattern(remote) ? '' : local;
    return (instance: string): Fetch => ({
      remote,
      local: absolute(`${join(resolve('.'), folderName(instance))}/${name}`),
    });
  }
  const given = absolute(path(local));
  return (instance: string): Fetch => ({
    remote,
    local: isSeveral ? `${join(given, folderName(instance))}/` : given,
  });
}

/**
 * Checks `--rescue` on this computer, by the rules of `--fetch`. Returns undefined without paths.
 * Throws a usage error.
 */
export async function toRescue(
  flags: DeadlineFlags,
  names: readonly string[],
  context: Pick<Context, 'host'>,
  source: Source = TYPED,
): Promise<ToRescue | undefined> {
  const { rescue = [], rescueBudget } = flags;
  if (!isRescueWanted(flags)) {
    if (rescueBudget !== undefined) throw usageError('--rescue-budget needs --rescue');
    return undefined;
  }
  const paths = rescue.map((text, at) => parsePath(text, source, at, names.length > 1));
  const pathsFor = (name: string) => paths.map((one) => one(name));
  const all = names.flatMap(pathsFor);
  await ensureTargets(all, (at) => source.from(at % rescue.length), {
    home: context.host.home,
    isUnattended: true,
  });
  return { pathsFor, budget: rescueBudget === undefined ? null : kopecksText(rescueBudget) };
}

/** Checks the flags of a new instance, and adds the checked paths. Throws a usage error. */
export async function withRescue<F extends DeadlineFlags>(
  flags: F,
  names: readonly string[],
  context: Context,
  source?: Source,
): Promise<F & CheckedEnds> {
  const rescue = await toRescue(flags, names, context, source);
  if (rescue === undefined) return flags;
  if (wantedDeadline(flags) === undefined && flags.ifIdle === undefined) {
    throw usageError(
      '--rescue needs a deadline or an idle rule: without one, nothing ends the instance by itself',
      'add --terminate-after 4h or --if-idle 45m',
    );
  }
  return { ...flags, toRescue: rescue };
}

/**
 * Throws a usage error unless a scheduled `reap` can sign in with one of these keys without a
 * prompt.
 */
export async function ensureRescueKey(
  { toRescue: rescue }: CheckedEnds,
  ids: readonly string[] = [],
  context: Context,
): Promise<void> {
  if (rescue === undefined) return;
  const all = await (await context.api()).sshKeys.list();
  const keys = all.filter(({ id }) => ids.includes(id));
  const { choice } = await findKey(keys, context);
  ensureUsable(choice?.needs, keys);
}

/** Checks the same for an instance, which `reap` may enter as its job did. */
export async function ensureRescueSignIn(instance: Instance, context: Context): Promise<void> {
  const { find } = rescueTools(context);
  const { how, needs } = await find(instance);
  ensureUsable(how.identity === undefined ? undefined : needs, instance.ssh_keys ?? []);
}

function ensureUsable(
  needs: 'nothing' | 'agent' | 'passphrase' | undefined,
  keys: NonNullable<Instance['ssh_keys']>,
): void {
  if (needs === 'nothing') return;
  const names = keys.map(({ name, id }) => name ?? id).join(', ') || 'none';
  const why =
    needs === undefined
      ? 'this computer has no private key for it'
      : needs === 'agent'
        ? 'its key is only usable through your SSH agent'
        : 'its key has a passphrase';
  throw usageError(
    `${FLAG}: a scheduled "instances reap" can't sign in to the instance (SSH keys: ${names}), since ${why}`,
    'use an SSH key whose file has no passphrase: --ssh-key NAME',
  );
}
