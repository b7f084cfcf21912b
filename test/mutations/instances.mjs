const VERBS = 'commands/instances/lifecycle commands/instances/refused-change';
const RENT =
  'commands/instances/doubt commands/instances/create instances/pending instances/refusal';

export const instances = [
  {
    file: 'instances/rent.ts',
    tests: RENT,
    changes: [
      [
        'an id is believed in a response without success',
        'if (status < 200 || status >= 300) return',
        'if (status < 200 || status >= 500) return',
      ],
      ['a doubted id is not kept', 'await opened.keepDoubted(id);', ''],
      ['an id is noted, but not on disk', 'await opened.made(id);', ''],
      [
        'an unknown outcome is removed from disk',
        'isUnknown ? opened.unknown() : opened.notMade()',
        'opened.notMade()',
      ],
      [
        'a refused request stays on disk',
        'isUnknown ? opened.unknown() : opened.notMade()',
        'opened.unknown()',
      ],
      [
        'a rental answered 408 counts as refused',
        'httpStatus < 500 && httpStatus !== 408;',
        'httpStatus < 500;',
        { equivalent: 'The error of a POST answered 408 is outcomeUnknown, which is no refusal.' },
      ],
      [
        'may_be_billing is lost when an error is renamed',
        'return error.with(error.message, { resource, mayBeBilling: true });',
        'return error.with(error.message, { resource, mayBeBilling: false });',
      ],
      [
        'the name is lost when an error is renamed',
        'error.with(error.message, { resource, mayBeBilling: true })',
        'error.with(error.message, { mayBeBilling: true })',
      ],
      [
        'an id that was not saved is not in the error',
        'return error.with(`${name} was created (${id}), but',
        'return error.with(`${name} was created, but',
      ],
      [
        'an id that was not saved is not billing',
        'keep it in the list with "gpucloud instances track ${id}"`,\n      resource: id,\n      mayBeBilling: true,',
        'keep it in the list with "gpucloud instances track ${id}"`,\n      resource: id,',
      ],
      [
        'an instance with a broken response is not billing',
        'terminate it with "gpucloud instances terminate ${id}"`,\n      resource: id,\n      mayBeBilling: true,\n      cause',
        'terminate it with "gpucloud instances terminate ${id}"`,\n      resource: id,\n      cause',
      ],
      [
        'a second Ctrl-C is not billing',
        'hint: settleHint(request),\n    mayBeBilling: true,\n    resource,\n  });',
        'hint: settleHint(request),\n    resource,\n  });',
        { tests: `${RENT} commands/instances/before-the-deed` },
      ],
      [
        'a certain refusal with an id in it is not billing',
        '...(isRefused ? { resource: id, hint: `see it: gpucloud instances get ${id}` } : {}),\n      mayBeBilling: true,',
        '...(isRefused ? { resource: id, hint: `see it: gpucloud instances get ${id}` } : {}),',
      ],
      [
        'the id of the refused offer is taken for an instance',
        'if (id === undefined || JSON.stringify([body, source_id]).includes(id)) return;',
        'if (id === undefined) return;',
      ],
    ],
  },
  {
    file: 'instances/refusal.ts',
    tests:
      'instances/refusal commands/instances/create commands/instances/lifecycle api/documented-errors',
    changes: [
      [
        'a balance that just covers the hour is too low',
        'balance.value.gte(needed.value)',
        'balance.value.gt(needed.value)',
      ],
      [
        'every 409 is a lack of funds',
        'shortfall !== undefined || httpStatus === 402',
        'shortfall !== undefined || httpStatus === 402 || httpStatus === 409',
      ],
      ['a 402 without a price is not a lack of funds', ' || httpStatus === 402) {', ') {'],
      [
        'a start of a running instance lacks funds',
        "if (status !== 'STOPPED') {",
        "if (status === 'TERMINATED') {",
      ],
      [
        'a terminated namesake has the name',
        'if (status !== undefined && mayBill(status)) return { id, status };',
        'if (status !== undefined) return { id, status };',
      ],
      [
        'a namesake that was read as over is read again',
        'if (known !== name || !mayBill(last?.status)) continue;',
        'if (known !== name) continue;',
        {
          equivalent:
            'The reading that follows shows that it is over; only one request more is sent.',
        },
      ],
      ['a taken name is another code', "code: 'name_taken',", "code: 'conflict',"],
    ],
  },
  {
    file: 'instances/pending.ts',
    tests: `${RENT}`,
    changes: [
      [
        'a script is not refused for an unresolved name',
        'if ((await context.prompts()) !== undefined) return;\n  const open',
        'return;\n  const open',
      ],
      ['a request in flight is agreed to', 'if (request.isInFlight) throw inFlight(name);', ''],
      [
        'an unresolved request is sent again without a question',
        'if (context.flags.yes === true) return;\n  const { name, asked_at }',
        'return;\n  const { name, asked_at }',
      ],
      [
        'another rental defaults to Yes',
        'prompts.confirm(question, false)',
        'prompts.confirm(question, true)',
      ],
      [
        'an unresolved request is not billing',
        'to create another one anyway: --yes`,\n      resource: name,\n      mayBeBilling: true,',
        'to create another one anyway: --yes`,\n      resource: name,',
      ],
      [
        'a name that was taken while waiting is rented twice',
        'if (made === undefined || ignoresNames) return opened;',
        'return opened;',
      ],
      ['a request that is not sent stays on disk', 'await opened.notMade();', ''],
      ['the account of a key is asked for each time', 'await journal.learnAccount(id);', ''],
      [
        'a taken name is not looked for',
        'if (!ignoresNames) await ensureNotTaken(request, context);',
        '',
      ],
    ],
  },
  {
    file: 'instances/max-price.ts',
    tests: 'commands/instances/create',
    changes: [
      [
        'a price that is just allowed is too high',
        'price.value.lte(limit)',
        'price.value.lt(limit)',
      ],
      [
        'a price that can not be read is allowed',
        'if (price.ok && price.value.lte(limit))',
        'if (!price.ok || price.value.lte(limit))',
      ],
      [
        'an instance that could not be ended is not billing',
        'hint: `gpucloud instances terminate ${instance.id}`,\n        resource: instance.id,\n        mayBeBilling: true,\n        cause',
        'hint: `gpucloud instances terminate ${instance.id}`,\n        resource: instance.id,\n        cause',
      ],
      ['a lost terminate counts as refused', "unknown ? 'outcomeUnknown' : 'refused'", "'refused'"],
      ['an instance that goes on counts as terminated', 'if (mayBill(status)) {', 'if (false) {'],
      [
        'a limit is not enforced after a broken response',
        "error.failure === 'notUnderstood' || ",
        '',
      ],
      ['a limit is not enforced after a full disk', " || error.failure === 'storage')", ')'],
      ['the first Ctrl-C ends the terminate', 'signal: context.interrupts.second,', ''],
      [
        'the limit is not written with the request',
        '{ max_price: limit.toFixed() }',
        '{}',
        { tests: 'commands/instances/create commands/instances/recover' },
      ],
    ],
  },
  {
    file: 'instances/change.ts',
    tests: `${VERBS} commands/instances/before-the-deed`,
    changes: [
      [
        'a terminate that the service rolled back is success',
        'if (leadsTo(goal, status)) return status;\n  throw',
        'return status;\n  throw',
      ],
      [
        'a refused stop of another state is success',
        'if (!leadsTo(goal, status)) {',
        'if (false) {',
      ],
      [
        'a refused terminate is not billing',
        'resource: id, mayBeBilling: billing, hint: afterRefusal',
        'resource: id, hint: afterRefusal',
      ],
      [
        'a terminate that failed is not billing',
        'billing && !error.mayBeBilling ? error.with(error.message, { mayBeBilling: true }) : error',
        'error',
      ],
      [
        'a refused terminate that can not be read is not billing',
        'refusal.with(refusal.message, { mayBeBilling: true })',
        'refusal',
      ],
      [
        'the first Ctrl-C cuts a start',
        "change.verb === 'start' ? { signal: context.interrupts.second } : {}",
        '{}',
      ],
      [
        'an interrupt after it was sent says that nothing was',
        'if (!sent && isInterrupt(error)) throw notSent',
        'if (isInterrupt(error)) throw notSent',
      ],
      ['no question comes before a change', 'await change.before?.(targets, context);', ''],
      [
        'a mistyped name hides the failure',
        'return outcomeOf([...outcomes, ...missing], targets);',
        'return outcomeOf(outcomes, targets);',
      ],
      ['an instance on its way is over', 'if (status === goal || waits) {', 'if (true) {'],
    ],
  },
  {
    file: 'instances/outcome.ts',
    tests: `${VERBS} cli/several`,
    changes: [
      ['a wait past its deadline is not billing', 'mayBeBilling: billing,\n    events,', 'events,'],
      [
        'a wait that a refused key ended is not billing',
        '{ ...details, mayBeBilling: true },',
        'details,',
      ],
      [
        'a create is retried after its wait',
        'error.retryable && after === undefined',
        'error.retryable',
      ],
      ['the last events are lost', 'mayBeBilling: billing,\n    events,', 'mayBeBilling: billing,'],
      [
        'a failure of our own stops the other instances',
        'if (!(error instanceof CliError)) throw error;\n    const isNamed',
        'const isNamed',
        {
          equivalent:
            'What is no CliError has no `with`, so it is thrown as another fault of our own and ends the command as before.',
        },
      ],
    ],
  },
  {
    file: 'instances/waiting.ts',
    tests: VERBS,
    changes: [
      ['an empty address is this computer', " || instance.ip_address === ''", ''],
      ['the last events come newest first', '.reverse()', ''],
      [
        'an unforeseen fault forgets that the instance bills',
        'throw withBill(error, awaited, last?.status, events);',
        'throw error;',
      ],
      [
        'an instance that ended elsewhere shows no events',
        "error.failure === 'otherEnd' ? await lastEvents(target.id, api) : []",
        '[]',
      ],
    ],
  },
  {
    file: 'instances/resolve.ts',
    tests: 'instances/naming commands/instances/reading',
    changes: [
      [
        'a script terminates by a beginning with --yes',
        'if (purpose.changes && context.flags.yes) {',
        'if (false) {',
      ],
      [
        'a beginning wins over a name',
        'beginning.length === 0 || (purpose.changes && mayBeName(typed, instances))',
        'beginning.length === 0',
      ],
      [
        'a name in capital letters is another name',
        'name.toLowerCase() === typed.toLowerCase()',
        'name === typed',
      ],
      [
        'a name of several takes the first',
        'if (first === undefined || second !== undefined)',
        'if (first === undefined)',
      ],
      [
        'a terminated namesake is meant, too',
        'return living.length > 0 ? living : all;',
        'return all;',
      ],
      [
        'a namesake of an unresolved request is terminated',
        'if (!archived.some(({ id }) => id === typed)) refusePending(typed, living, archived);',
        '',
      ],
      [
        'an unresolved request is not billing',
        'resource: name,\n      mayBeBilling: true,\n    },\n  );\n}\n\n/**\n * The ids',
        'resource: name,\n    },\n  );\n}\n\n/**\n * The ids',
      ],
      [
        'a UUID fails for a journal that can not be read',
        "if (!(error instanceof CliError) || error.failure !== 'storage') throw error;\n    return undefined;",
        'throw error;',
      ],
      [
        'a refused key counts as not found',
        "if (!(error instanceof CliError) || error.failure !== 'notFound') throw error;\n      missing",
        'if (!(error instanceof CliError)) throw error;\n      missing',
      ],
      [
        'a terminated instance can be picked',
        'instances.filter(({ last }) => mayBill(last?.status))',
        'instances',
        {
          tests:
            'instances/naming commands/instances/lifecycle commands/instances/reading commands/instances/before-the-deed',
        },
      ],
    ],
  },
  {
    file: 'instances/reconcile.ts',
    tests: 'commands/instances/recover',
    changes: [
      ['an instance of another name settles a request', 'name !== wanted || created', 'created'],
      [
        'an instance known before settles a request',
        '.filter(({ asked_at }) => known_at === undefined || !isBefore(known_at, asked_at))',
        '',
      ],
      [
        'an instance of last year settles a request',
        'age >= -SKEW + Math.min(0, ahead) && age',
        'age',
      ],
      ['an instance of next week settles a request', ' && age <= LATEST + Math.max(0, ahead)', ''],
      ['one instance settles two requests', 'open.filter((one) => !found.has(one))', 'open'],
      [
        'an instance of another request settles this one',
        'if (known.get(id)?.request == null) ids.add(id);',
        'ids.add(id);',
      ],
      [
        'a refused key is no reason to stop',
        "['authentication', 'unreachable']",
        "['unreachable']",
      ],
      [
        'what drives name is not looked at',
        'for (const id of attached) {',
        'for (const id of []) {',
      ],
      [
        'an instance that is not found is warned of',
        'if (!isNotFound(error)) warnUnread',
        'warnUnread',
      ],
    ],
  },
  {
    file: 'instances/known-machines.ts',
    tests: 'commands/instances/reading commands/status',
    changes: [
      [
        'an instance that answers 404 is dropped to its last status',
        "if (error.failure === 'notFound') {",
        'if (false) {',
      ],
      ['an instance that can not be read is no fault', 'faults.push(error);', ''],
      [
        'an instance that a drive names is not read',
        'const attached = await read(fresh);',
        'const attached = await read([]);',
      ],
      [
        'a refused key is the fault of one reading',
        'if (!isOfOneReading(error)) throw error;\n    const name',
        'if (!(error instanceof Error) || !("failure" in error)) throw error;\n    const name',
      ],
      ['an unresolved request has no row', '[...newestFirst(lost), ...', '['],
      ['a request in flight has no row', '...newestFirst(inFlight), ', ''],
    ],
  },
  {
    file: 'instances/preflight.ts',
    tests: 'commands/instances/before-the-deed commands/instances/lifecycle',
    changes: [
      [
        'a running machine counts for what a start reserves',
        "(instance?.status ?? 'STOPPED') === 'STOPPED'",
        'true',
      ],
      [
        'an interrupt before a request says nothing',
        'isInterrupt(error) && error === context.signal.reason ? meaning(error) : error',
        'error',
        {
          tests:
            'commands/instances/before-the-deed commands/instances/lifecycle commands/instances/create',
        },
      ],
    ],
  },
  {
    file: 'instances/newest-first.ts',
    tests: 'instances/newest-first',
    changes: [['the oldest comes first', 'a === b ? 0 : b - a', 'a === b ? 0 : a - b']],
  },
  {
    file: 'instances/status.ts',
    tests: 'commands/instances/lifecycle commands/instances/connections commands/instances/ssh',
    changes: [
      ['a starting instance is to be terminated', '--for stopped`;\n    case', '`;\n    case'],
      [
        'a stopped instance is started without --wait',
        'start ${instance} --wait${',
        'start ${instance}${',
      ],
    ],
  },
  {
    file: 'rules/statuses.ts',
    tests: 'rules/statuses',
    changes: [
      ['TERMINATING bills', "TERMINATING: { bills: 'no'", "TERMINATING: { bills: 'yes'"],
      ['STOPPED does not bill', "STOPPED: { bills: 'untold'", "STOPPED: { bills: 'no'"],
      ['ERROR does not bill', "ERROR: { bills: 'untold'", "ERROR: { bills: 'no'"],
      [
        'a new status does not bill',
        "UNDOCUMENTED: InstanceStatus = { bills: 'untold'",
        "UNDOCUMENTED: InstanceStatus = { bills: 'no'",
      ],
      [
        'a TERMINATING instance is over',
        "return status === 'TERMINATED';",
        "return instanceStatus(status).bills === 'no';",
      ],
      [
        'INSTALLING has no SSH',
        "INSTALLING: { bills: 'yes', ssh: true",
        "INSTALLING: { bills: 'yes', ssh: false",
      ],
    ],
  },
];
