export const commands = [
  {
    file: 'commands/profiles/logout.ts',
    tests: 'commands/logout',
    changes: [
      [
        'logout does not warn of a STOPPED instance',
        '!isTerminated(last?.status)',
        "!isTerminated(last?.status) && last?.status !== 'STOPPED'",
      ],
      [
        'logout does not warn of a PROVISIONING instance',
        '!isTerminated(last?.status)',
        "!isTerminated(last?.status) && last?.status !== 'PROVISIONING'",
      ],
      [
        'logout warns of a TERMINATED instance',
        'instances.filter(({ last }) => !isTerminated(last?.status))',
        'instances',
      ],
      ['logout does not warn of an unresolved request', '[...unknown, ...alive]', '[...alive]'],
      [
        'logout leaves the key in the keyring',
        'await (await context.keys()).remove(name, place);',
        '',
      ],
      ['logout forgets the base URL', '{ base_url: stored.base_url }', "{ base_url: '' }"],
      [
        'logout is silent about the key in the environment',
        'if (env.GPUCLOUD_API_KEY) {',
        'if (false) {',
      ],
    ],
  },
  {
    file: 'commands/doctor/files.ts',
    tests: 'commands/doctor',
    changes: [
      ['doctor passes a config file of mode 0640', '(mode & 0o077) === 0', '(mode & 0o037) === 0'],
      ['doctor passes a config file of mode 0604', '(mode & 0o077) === 0', '(mode & 0o070) === 0'],
      [
        'doctor passes a full disk',
        "await writeFile(join(folder, 'probe'), PROBE, { flush: true });",
        '',
      ],
      ['doctor leaves its probe', 'await rm(folder, { recursive: true, force: true });', ''],
    ],
  },
  {
    file: 'commands/doctor/service.ts',
    tests: 'commands/doctor',
    changes: [
      [
        'doctor passes a service that fails',
        'if (answer === undefined || answer.status >= 500) {\n    // The',
        'if (answer === undefined) {\n    // The',
      ],
      ['doctor passes a blocked account', 'user.is_active === false', 'user.is_active === null'],
      [
        'doctor passes a clock that is an hour off',
        'if (Math.abs(skew) > SKEW) {',
        'if (Math.abs(skew) > 100 * SKEW) {',
      ],
      [
        'doctor passes certificates that are not checked',
        "env.NODE_TLS_REJECT_UNAUTHORIZED === '0'",
        'false',
      ],
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
    file: 'commands/doctor/computer.ts',
    tests: 'commands/doctor',
    changes: [['doctor passes an old Node', '{ numeric: true }) < 0', '{ numeric: true }) < -1']],
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
      [
        'runway shows below: false although it is in doubt',
        '(doubt === undefined && reading.faults.length === 0)',
        'reading.faults.length === 0',
      ],
      ['a balance that is too low ends with success', 'if (short !== undefined) throw short;', ''],
      ['a part that was not read ends with success', 'assertWhole(reading.faults);', ''],
      [
        'a limit that can not be judged ends with success',
        'if (doubt !== undefined) throw doubt;',
        '',
      ],
    ],
  },
  {
    file: 'commands/billing/fail-below.ts',
    tests: 'commands/billing/spend-runway',
    changes: [
      [
        'a balance of just the limit is too low',
        'balance.lt(failBelow.amount)',
        'balance.lte(failBelow.amount)',
      ],
      [
        'a runway of just the limit is too short',
        'lasting.seconds.times(1000).gte(failBelow.lasts)',
        'lasting.seconds.times(1000).gt(failBelow.lasts)',
      ],
      ['a debt passes', 'if (balance.lt(0)) return error', 'if (false) return error'],
      ['a price that is not known passes', 'if (untold !== undefined) {', 'if (false) {'],
      [
        'charges that could not be checked pass',
        'charges === undefined ? unjudged(UNCHECKED) : undefined',
        'undefined',
      ],
      [
        'a balance that could not be read passes',
        "if (balance === undefined) return unjudged('The",
        "if (false) return unjudged('The",
      ],
      [
        'unexplained charges are not in the rate',
        'burn.atMost?.plus(unexplainedPerHour)',
        'burn.atMost',
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
    file: 'commands/billing/spend.ts',
    tests: 'commands/billing/spend-runway',
    changes: [
      ['spend shows 31 days', 'day: 29', 'day: 30'],
      ['spend of the future is empty', 'if (from > now) {', 'if (false) {'],
      [
        'spend is silent about what it left out',
        'for (const line of books.left.warnings()) err.warn(',
        'for (const line of []) err.warn(',
      ],
    ],
  },
  {
    file: 'commands/status/attention.ts',
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
      ['a balance of 25 hours is low', 'const LOW = 24 * 3600', 'const LOW = 25 * 3600 + 60'],
      ['a balance of 23 hours is enough', 'const LOW = 24 * 3600', 'const LOW = 23 * 3600 - 60'],
      [
        'an unresolved request needs no attention',
        "if (status !== 'UNKNOWN') return undefined;",
        'return undefined;',
      ],
      [
        'unexplained charges need no attention',
        'if (charges.unexplained.lte(0)) return undefined;',
        'return undefined;',
      ],
      [
        'charges that were not checked need no attention',
        'if (faults.length > 0) return undefined;',
        'return undefined;',
      ],
      ['a debt needs no attention', 'if (balance.lt(0)) {', 'if (false) {'],
      [
        'a suspended drive needs no attention',
        "if (status !== 'SUSPENDED') return undefined;",
        'return undefined;',
      ],
      [
        'a price that is not known needs no attention',
        'if (row.price_per_hour_snapshot === null) {',
        'if (false) {',
      ],
      ['an instance that is gone needs no attention', "if (status === 'GONE') {", 'if (false) {'],
      [
        'an instance in ERROR needs no attention',
        "if (status === 'ERROR') {\n    const why",
        'if (false) {\n    const why',
      ],
      [
        'a drive in ERROR needs no attention',
        "if (status === 'ERROR') {\n    return",
        'if (false) {\n    return',
      ],
      ['a blocked account needs no attention', 'user?.is_active === false', 'false'],
    ],
  },
  {
    file: 'commands/drives/create.ts',
    tests: 'commands/drives',
    changes: [
      ['a script creates a second drive of one name', 'await refuseNamesakes(name, context);', ''],
      ['a deleted drive has its name', " && drive.status !== 'DELETED'", ''],
      [
        'a drive is created without a question',
        'if (isAsked) await confirm(',
        'if (false) await confirm(',
      ],
      [
        'two scripts create one drive at once',
        "return await withLock(join(state, 'drives'), work);",
        'return await work();',
      ],
    ],
  },
  {
    file: 'commands/instances/lifecycle.ts',
    tests: 'commands/instances/lifecycle commands/instances/before-the-deed',
    changes: [
      ['terminate does not ask', 'confirm(context, () => question(targets))', 'Promise.resolve()'],
      [
        'stop waits for TERMINATED',
        "wait === true ? 'STOPPED' : undefined",
        "wait === true ? 'TERMINATED' : undefined",
      ],
      ['a failed change ends with success', 'if (failure !== undefined) throw failure;', ''],
    ],
  },
  {
    file: 'commands/instances/create.ts',
    tests: 'commands/instances/create commands/instances/wizard commands/instances/doubt',
    changes: [
      ['--dry-run rents', 'if (input.dryRun) {', 'if (false) {'],
      ['--max-price is ignored', 'rentWithin(input.maxPrice,', 'rentWithin(undefined,'],
      [
        'two names are one',
        'argument !== undefined && flag !== undefined && argument !== flag',
        'false',
      ],
    ],
  },
  {
    file: 'cli/confirm.ts',
    tests:
      'commands/instances/before-the-deed commands/instances/lifecycle commands/ssh-keys commands/drives',
    changes: [
      [
        'a question defaults to Yes',
        'prompts.confirm(asked, false)',
        'prompts.confirm(asked, true)',
      ],
      [
        'No goes on',
        "throw new CliError('interrupted', 'Cancelled",
        "void new CliError('interrupted', 'Cancelled",
      ],
      [
        'a script needs no --yes',
        'if (prompts === undefined) {',
        'if (prompts === undefined) return;\n  if (prompts === undefined) {',
      ],
      ['--yes asks', 'if (context.flags.yes === true) {', 'if (false) {'],
    ],
  },
  {
    file: 'cli/creation.ts',
    tests: 'cli/creation commands/drives commands/instances/create',
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
    tests: 'errors api/errors cli/creation cli/hints run',
    changes: [
      [
        'an unknown outcome exits with 6',
        'outcomeUnknown: {\n    exit: 7',
        'outcomeUnknown: {\n    exit: 6',
      ],
      ['a refused request exits with 0', 'refused: { exit: 1', 'refused: { exit: 0'],
      ['a Ctrl-C exits with 1', 'interrupted: { exit: 130', 'interrupted: { exit: 1'],
      ['a hang-up exits with 130', 'hungUp: { exit: 129', 'hungUp: { exit: 130'],
      ['a wait past its deadline exits with 12', 'deadline: { exit: 8', 'deadline: { exit: 12'],
      ['may_be_billing is lost when an error is extended', 'mayBeBilling: this.mayBeBilling,', ''],
      ['the resource is lost when an error is extended', 'resource: this.resource,', ''],
      ['the code is lost when an error is extended', 'code: this.code,', ''],
      ['the HTTP status is lost when an error is extended', 'httpStatus: this.httpStatus,', ''],
      ['retryable is lost when an error is extended', 'retryable: this.retryable,', ''],
      [
        'the Retry-After is lost when an error is extended',
        'retryAfterMs: this.retryAfterMs,\n      cause',
        'cause',
      ],
      [
        'one that may bill is hidden by several',
        'errors.some((error) => error.mayBeBilling)',
        'errors.every((error) => error.mayBeBilling)',
      ],
      [
        'several are retryable if one is',
        'errors.every((error) => error.retryable)',
        'errors.some((error) => error.retryable)',
      ],
      ['the shortest Retry-After of several is kept', 'Math.max(...asked)', 'Math.min(...asked)'],
      [
        'the gravest of several is the last',
        'GRAVITY.indexOf(a.failure) - GRAVITY.indexOf(b.failure)',
        'GRAVITY.indexOf(b.failure) - GRAVITY.indexOf(a.failure)',
      ],
      ['a refused key is the fault of one reading', "error.failure !== 'authentication' && ", ''],
    ],
  },
];
