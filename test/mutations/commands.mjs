export const commands = [
  {
    file: 'instances/accounts.ts',
    tests: 'commands/logout commands/login',
    changes: [
      [
        'an account that another profile signs in to is named',
        'const isKept = others.some(([, other]) => isSignedInTo(scope, other));',
        'const isKept = false;',
      ],
      [
        'logout does not warn of a STOPPED instance',
        '=> !isTerminated(status)',
        "=> !isTerminated(status) && status !== 'STOPPED'",
      ],
      [
        'logout does not warn of a PROVISIONING instance',
        '=> !isTerminated(status)',
        "=> !isTerminated(status) && status !== 'PROVISIONING'",
      ],
      ['logout does not warn of an unresolved request', '[...unknown, ...alive]', '[...alive]'],
    ],
  },
  {
    file: 'commands/doctor/settings.ts',
    tests: 'commands/doctor',
    changes: [
      ['doctor passes a config file of mode 0640', '(mode & 0o077) === 0', '(mode & 0o037) === 0'],
    ],
  },
  {
    file: 'commands/doctor/settings.ts',
    tests: 'commands/doctor',
    changes: [
      [
        'doctor shows more of a key than its prefix',
        '(?:[A-Za-z]{1,12}_(?=.))?/',
        '(?:[A-Za-z]{1,12}_(?=.).*)?/',
      ],
    ],
  },
  {
    file: 'commands/doctor/index.ts',
    tests: 'commands/doctor',
    changes: [
      ['doctor is ok although a check failed', "status !== 'fail')", "status !== 'failed')"],
    ],
  },
  {
    file: 'commands/billing/runway.ts',
    tests: 'commands/billing/spend-runway',
    changes: [
      [
        'runway shows below: false although a part was not read',
        '(doubt === undefined && reading.faults.length === 0)',
        'doubt === undefined',
      ],
      ['a balance that is too low ends with success', 'if (short !== undefined) throw short;', ''],
      ['a part that was not read ends with success', 'assertWhole(reading.faults);', ''],
    ],
  },
  {
    file: 'commands/billing/runway.ts',
    tests: 'commands/billing/spend-runway',
    changes: [
      ['a debt passes', 'if (balance.lt(0)) return error', 'if (false) return error'],
      [
        'a balance that could not be read passes',
        'balance === undefined) return unjudged',
        'false) return unjudged',
      ],
    ],
  },
  {
    file: 'commands/billing/period.ts',
    tests: 'commands/billing/spend-runway commands/billing/transactions',
    changes: [
      ["spend's period may be empty", 'period.from >= period.to', 'period.from > period.to'],
      [
        "spend's period may be turned round",
        'period.from >= period.to',
        'period.from === period.to',
      ],
    ],
  },
  {
    file: 'money/findings.ts',
    tests: 'commands/status',
    changes: [
      [
        'an instance is overdue after 9 minutes',
        'const LATE = 10 * 60_000',
        'const LATE = 9 * 60_000',
      ],
      [
        'an instance is overdue after 11 minutes',
        'const LATE = 10 * 60_000',
        'const LATE = 11 * 60_000',
      ],
      [
        'an unresolved request needs no attention',
        'test: ({ status }) => status === UNKNOWN',
        'test: () => false',
      ],
      [
        'an instance in ERROR needs no attention',
        "code: 'instance_error',\n    test: ({ status }) => status === 'ERROR'",
        "code: 'instance_error',\n    test: () => false",
      ],
    ],
  },
  {
    file: 'commands/drives/create.ts',
    tests: 'commands/drives',
    changes: [
      ['a script creates a second drive of one name', 'await refuseNamesakes(name, context);', ''],
    ],
  },
  {
    file: 'commands/instances/lifecycle.ts',
    tests: 'commands/instances/lifecycle commands/instances/confirmations',
    changes: [
      ['terminate does not ask', 'confirm(own, () => question(targets))', 'Promise.resolve()'],
    ],
  },
  {
    file: 'commands/instances/changing.ts',
    tests: 'commands/instances/lifecycle commands/instances/terminate-all',
    changes: [
      ['a failed change ends with success', 'failure === undefined ? [] : [failure]', '[]'],
      ['terminate --all forgets an unknown request', ', ...left]', ']'],
    ],
  },
  {
    file: 'instances/ask/keys.ts',
    tests: 'instances/ssh-keys',
    changes: [
      ['rents what nobody can enter', 'if (mustEnter) throw noKeyError(keys);', ''],
      [
        'takes any of several keys',
        'key === undefined || other !== undefined',
        'key === undefined',
      ],
    ],
  },
  {
    file: 'commands/instances/renting/create.ts',
    tests: 'commands/instances/create commands/instances/wizard commands/instances/doubt',
    changes: [['--dry-run rents', 'if (input.dryRun) {', 'if (false) {']],
  },
  {
    file: 'commands/instances/renting/prepare.ts',
    tests: 'commands/instances/create',
    changes: [['--max-price is ignored', 'rentWithin(maxPrice,', 'rentWithin(undefined,']],
  },
  {
    file: 'command-line/confirm.ts',
    tests:
      'commands/instances/confirmations commands/instances/lifecycle commands/ssh-keys commands/drives',
    changes: [
      [
        'a question defaults to Yes',
        'prompts.confirm(asked, false)',
        'prompts.confirm(asked, true)',
      ],
      [
        'a script needs no --yes',
        'if (prompts === undefined) {',
        'if (prompts === undefined) return;\n  if (prompts === undefined) {',
      ],
    ],
  },
  {
    file: 'command-line/creation.ts',
    tests: 'command-line/creation commands/drives commands/instances/create',
    changes: [
      [
        'the first Ctrl-C cuts a request that was sent',
        'if (!sent) stop.abort(first.reason);',
        'stop.abort(first.reason);\n    if (!sent) return;',
      ],
      ['a request leaves after Ctrl-C', 'stop.signal.throwIfAborted();', ''],
      [
        'an id that could not be printed is lost',
        'resource: id,\n      mayBeBilling',
        'mayBeBilling',
      ],
      [
        'what could not be printed is not billing',
        'mayBeBilling: true,\n      hint: error.hint',
        'hint: error.hint',
      ],
      [
        'the second Ctrl-C waits',
        "second.addEventListener('abort', onSecond, { once: true });",
        '',
      ],
    ],
  },
  {
    file: 'errors.ts',
    tests: 'errors api/errors command-line/creation command-line/hints run',
    changes: [
      [
        'an unknown outcome exits with 6',
        'outcomeUnknown: {\n    exit: 7',
        'outcomeUnknown: {\n    exit: 6',
      ],
      ['a refused request exits with 0', 'refused: { exit: 1', 'refused: { exit: 0'],
      ['a Ctrl-C exits with 1', 'interrupted: { exit: 130', 'interrupted: { exit: 1'],
      ['a wait past its deadline exits with 12', 'deadline: { exit: 8', 'deadline: { exit: 12'],
      ['may_be_billing is lost when an error is extended', '{ ...this, cause', '{ cause'],
      [
        'one that may bill is hidden by several',
        'errors.some((error) => error.mayBeBilling)',
        'errors.every((error) => error.mayBeBilling)',
      ],
      ['a doubt is not billing', '{ ...details, mayBeBilling: true }', 'details'],
      [
        'several are retryable if one is',
        'errors.every((error) => error.retryable)',
        'errors.some((error) => error.retryable)',
      ],
      [
        'the gravest of several is the last',
        'a.failure) - gravest.indexOf(b',
        'b.failure) - gravest.indexOf(a',
      ],
    ],
  },
];
