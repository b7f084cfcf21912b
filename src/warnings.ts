/**
 * Every warning code with its meaning. In JSON modes a warning is `{"warning": {code, message}}` on a
 * line of stderr; the codes are a contract with scripts.
 */
export const WARNINGS = {
  account_blocked: 'the account is blocked',
  attempt: 'could not rent an offer; create tries the next --offer, if any',
  balance_low: 'the balance does not cover the hours until the deadline',
  clock_differs: "this computer's clock and the service's differ by more than a minute",
  connection: 'a connection to an instance, or a program started for it, failed',
  deadline_later: 'a time of day has passed today, so the deadline is on a later day',
  deadline_near: 'an instance is near its deadline, so its command is interrupted',
  deadline_passed: 'an instance is past its deadline, and may be billing',
  deadline_unenforced: 'an instance has no deadline, or nothing on this computer enforces it',
  copy: 'a file changed or vanished during a copy, or could not be compared',
  drive_full: 'a drive is almost full, and the service will raise its size and price',
  drive_suspended: 'a drive is suspended and will be deleted',
  guard_exceeded: "an instance's price exceeds the profile's --max-burn",
  job_unfinished: 'the instance to stop or terminate has results of a job that are not copied',
  instances_unused: 'the command of "run --here" mentions no variable that lists the instances',
  incomplete: 'could not read part of the result',
  host_taken: "another profile's ssh configuration has a host name, so it was left out",
  key_exposed: 'others on this computer can read a key',
  local_storage: 'could not read or write a local file',
  may_be_billing: 'something is billing or may be billing',
  notify: 'the command of "profiles set --notify" failed',
  min_count: 'fewer instances than --min-count could be rented, so all are terminated',
  more_pages: 'the result is one page of several',
  no_ssh_key: 'the request has no SSH key, or this computer has no private key for it',
  odd_response: 'a response does not match the API document',
  outcome_unknown: 'a request has an unknown outcome, and may be billing',
  price: 'an instance costs or may cost more than expected',
  probe_failed: 'could not check whether an instance is idle, so it counts as in use',
  rescue_failed: 'the paths of --rescue were not copied completely',
  retrying: 'a read failed; trying again',
  settings: 'a variable or flag overrides or ignores a setting',
  stdin_not_read: 'the command does not read the data on stdin',
  unexplained_charges: "charges that known instances and drives don't explain",
} as const;

export type WarningCode = keyof typeof WARNINGS;

export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
}
