import type { Fault, State } from '../store/state.ts';

/** The available failures, with their effects. */
export const FAULTS: Readonly<Record<Fault, string>> = {
  'fail-start': 'the next start fails (HTTP 500); the instance stays STOPPED',
  'fail-stop': 'the next stop fails (HTTP 500); the instance stays ACTIVE',
  'fail-terminate': 'the next terminate fails (HTTP 500); the status is unchanged',
  'slow-provisioning': 'the next instance stays PROVISIONING for ten minutes',
  'fail-provisioning': 'the next instance reaches ERROR without hardware',
  'fail-running': 'the newest ACTIVE instance, or the next one, reaches ERROR',
};

/** Whether a failure was scheduled. Each scheduled failure strikes once. */
export function strikes(state: State, fault: Fault): boolean {
  const at = state.faults.indexOf(fault);
  if (at === -1) return false;
  state.faults.splice(at, 1);
  return true;
}
