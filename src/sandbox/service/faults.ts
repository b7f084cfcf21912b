import type { Fault, State } from '../store/state.ts';

/** The available failures, with their effects. */
export const FAULTS: Readonly<Record<Fault, string>> = {
  'fail-start': 'the next start fails: HTTP 500, funds returned, still STOPPED',
  'fail-stop': 'the next stop fails: HTTP 500, back to ACTIVE',
  'fail-terminate': 'the next terminate fails: HTTP 500, status unchanged',
  'slow-provisioning': 'the next instance stays PROVISIONING for ten minutes',
  'fail-provisioning': 'the next instance ends in ERROR without hardware',
  'fail-running': 'the newest ACTIVE instance, or the next one, goes to ERROR',
};

/** Whether a failure was scheduled. Each scheduled failure strikes once. */
export function strikes(state: State, fault: Fault): boolean {
  const at = state.faults.indexOf(fault);
  if (at === -1) return false;
  state.faults.splice(at, 1);
  return true;
}
