import type { Fault, State } from '../store/state.ts';

/** The failures that can be asked for, each with what it does. */
export const FAULTS: Readonly<Record<Fault, string>> = {
  'fail-start': 'the provider fails the next start: HTTP 500, the funds go back, still STOPPED',
  'fail-stop': 'the provider fails the next stop: HTTP 500, back to ACTIVE',
  'fail-terminate': 'the provider fails the next terminate: HTTP 500, back to the status before',
  'slow-provisioning': 'the next machine stays in PROVISIONING for ten minutes',
  'fail-provisioning': 'the next machine ends in ERROR instead of getting hardware',
  'fail-running':
    'the newest running machine falls into ERROR; without one, the next that becomes ACTIVE does',
};

/** Whether a failure was asked for; it is used up by that. */
export function strikes(state: State, fault: Fault): boolean {
  const at = state.faults.indexOf(fault);
  if (at === -1) return false;
  state.faults.splice(at, 1);
  return true;
}
