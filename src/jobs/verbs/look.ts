import type { Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { instanceIn, readInstance } from '../../instances/read.ts';
import type { Target } from '../../instances/resolve.ts';
import { nextStep } from '../../instances/status.ts';
import { typedName } from '../../rules/names.ts';
import { instanceStatus, leadsTo } from '../../rules/statuses.ts';
import { type HowToReach, sshOptions } from '../../ssh/reach.ts';
import { type FindSignIn, signInFinder } from '../../ssh/sign-in.ts';
import { sshEndpoint } from '../../watch/ssh-endpoint.ts';
import { ensureSameHost, ensureUser, isKeyRefused, SignInRefused } from '../remote/failed-ssh.ts';
import { observed, type SignedIn, signIn } from '../remote/probe.ts';
import { within } from '../remote/within.ts';
import type { Observation } from '../state.ts';

/** An instance that responded over SSH, or is terminating or terminated. */
export type Seen =
  | { readonly isOver: true; readonly instance: Instance }
  | (SignedIn & { readonly isOver: false; readonly instance: Instance });

/** Returns what a look showed of a job; undefined if the instance did not respond. */
export function observationOf(seen: Seen | undefined): Observation {
  if (seen === undefined) return { kind: 'unreachable' };
  return seen.isOver ? { kind: 'gone', isOver: true } : observed(seen);
}

/** Milliseconds for a look that a person or a copy waits for. */
const LOOK = 30_000;

/** Checks a job once, with a time limit in milliseconds. Throws CliError if the check fails. */
export async function look(
  job: Target & { readonly home?: string | null | undefined },
  how: HowToReach | FindSignIn,
  context: Context,
  time = LOOK,
): Promise<Seen> {
  const { id, name } = job;
  const { clock, signal: outer } = context;
  const late = () =>
    new CliError('unreachable', `${name} did not respond within ${time / 1000} s.`);
  return within({ time, late, signal: outer }, clock, async (signal) => {
    const instance = instanceIn(await readInstance(id, await context.api(), { signal }));
    const { status } = instance;
    if (leadsTo('TERMINATED', status)) return { isOver: true, instance };
    // SSH may still work in ERROR.
    const isWithout = instanceStatus(status).ssh === 'no' || instance.ip_address == null;
    if (isWithout) {
      const hint = nextStep(status, typedName(name, id));
      throw new CliError('wrongState', `${name} is ${status}.`, { hint });
    }
    const find = typeof how === 'function' ? how : signInFinder(how, context);
    const { how: way } = await find(instance);
    const endpoint = sshEndpoint(instance, way);
    const ssh = await sshOptions(id, way, context);
    const found = await signIn({ endpoint, ssh, home: job.home ?? undefined }, context, signal);
    if (typeof found === 'string') {
      ensureSameHost(found, job);
      ensureUser(found, job);
      if (isKeyRefused(found)) throw new SignInRefused({ id, name }, found);
      throw new CliError('unreachable', `Could not connect to ${name}: ${found}`);
    }
    return { isOver: false, instance, ...found };
  });
}
