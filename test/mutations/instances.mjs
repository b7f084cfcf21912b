const VERBS = 'commands/instances/lifecycle commands/instances/refused-change';
const RENT =
  'commands/instances/doubt commands/instances/create instances/pending instances/refusal';

export const instances = [
  {
    file: 'instances/rent/purse.ts',
    tests: 'mcp/purse',
    changes: [
      [
        'a request without a response is free',
        ', ...open.map(({ session }) => reservedBy(session))',
        '',
      ],
      ['a late reap is free', 'startedHours(deadline + LATE -', 'startedHours(deadline -'],
      ['a deadline outlives the session', 'if (end > session.endsAt)', 'if (false)'],
      ['open requests are no instances', '[...living, ...open].map', '[...living].map'],
    ],
  },
  {
    file: 'instances/rent/several.ts',
    tests: 'instances/several',
    changes: [
      [
        'Ctrl-C terminates the instances',
        ' || context.signal.aborted) return { each',
        ') return { each',
      ],
      ['a failed wait counts', ' in one && one.early === undefined', ' in one'],
    ],
  },
  {
    file: 'instances/rent/count.ts',
    tests: 'instances/several',
    changes: [
      [
        'a drive is shared',
        'drive !== undefined && count > 1',
        'drive !== undefined && count > 99',
      ],
      ['a numbered name is too long', '|| instanceName(last).ok', ''],
    ],
  },
  {
    file: 'instances/rent/capacity.ts',
    tests: 'instances/capacity',
    changes: [
      ['another offer is tried after a doubt', 'if (mayBeBilling) return false;', ''],
      ['a proxy may have sent the refusal', " && request.obstacle !== 'web page'", ''],
      ['a taken name is tried with each offer', "['name_taken', ", '['],
      ['Ctrl-C does not end the round', 'if (signal.aborted) throw', 'if (false) throw'],
    ],
  },
  {
    file: 'instances/rent/rent.ts',
    tests: RENT,
    changes: [
      [
        'an id is believed in a response without success',
        'status >= 200 && status < 300 ?',
        'status >= 200 && status < 500 ?',
        { tests: 'commands/instances/recover' },
      ],
      ['a doubted id is not kept', 'await opened.keepDoubted(id);', ''],
      ['an id is noted, but not on disk', 'await this.#opened.made(id);', ''],
      ['an unknown outcome is removed from disk', 'isUnknown ? opened.unknown() : ', ''],
      [
        'a refused request stays on disk',
        'isUnknown ? opened.unknown() : opened.notMade()',
        'opened.unknown()',
      ],
      [
        'treats a 408 response to a rental request as a refusal',
        'httpStatus < 500 && httpStatus !== 408;',
        'httpStatus < 500;',
        { equivalent: 'The client reports a 408 to a POST as outcomeUnknown, never as a refusal.' },
      ],
      ['a fault after the request was sent counts as certain', 'return !sent;', 'return true;'],
      [
        'may_be_billing is lost when an error is renamed',
        'mayBeBilling: true,\n  });\n}\n\nconst',
        'mayBeBilling: false,\n  });\n}\n\nconst',
      ],
      ['an id that was not saved is not in the error', ' (${id}),', ','],
      [
        'an id that was not saved is not billing',
        "'track', id)}\"`,\n      resource: id,\n      mayBeBilling: true",
        "'track', id)}\"`,\n      resource: id",
      ],
      ['an instance with a broken response is not billing', 'mayBeBilling: true,\n      ', ''],
    ],
  },
  {
    file: 'instances/rent/refusal.ts',
    tests:
      'instances/refusal commands/instances/create commands/instances/lifecycle api/documented-errors',
    changes: [
      [
        'a balance that just covers the hour is too low',
        'balance.value.gte(needed)',
        'balance.value.gt(needed)',
      ],
      [
        'a namesake that was TERMINATING is not read again',
        '!isSameName(known, name) || isTerminated(last?.status)',
        '!isSameName(known, name) || !mayBill(last?.status)',
        { tests: 'instances/pending' },
      ],
      [
        'a namesake that is not found counts as ended',
        'if (status === undefined && mayBill(last?.status)) lost',
        'if (false) lost',
        { tests: 'instances/pending' },
      ],
    ],
  },
  {
    file: 'instances/recover/pending.ts',
    tests: `${RENT}`,
    changes: [
      [
        'a script is not refused for an unresolved name',
        'if ((await context.prompts()) !== undefined) ',
        '',
      ],
      ['a request in flight is agreed to', 'if (request.isInFlight) throw new InFlight(name);', ''],
      [
        'an unresolved request is sent again without a question',
        'if (context.flags.yes === true) ',
        '',
      ],
      [
        'a name that was taken while waiting is rented twice',
        'if (made !== undefined) {\n      throw nameTaken(',
        'if (false) {\n      throw nameTaken(',
      ],
    ],
  },
  {
    file: 'instances/rent/max-price.ts',
    tests:
      'commands/instances/create-outcome commands/instances/doubt commands/instances/confirmations',
    changes: [
      [
        'a broken guard is not checked after the response',
        'await enforceMaxBurn(instance, context);',
        '',
        { tests: 'instances/guards' },
      ],
      [
        'a broken guard ends an instance without --enforce-max-burn',
        'found?.isEnforced === true',
        'found !== undefined',
        { tests: 'instances/guards' },
      ],
      [
        'the limit is not written with the request',
        '{ max_price: limit.toFixed() }',
        '{}',
        { tests: 'commands/instances/recover' },
      ],
    ],
  },
  {
    file: 'instances/change/change.ts',
    tests: `${VERBS} commands/instances/confirmations`,
    changes: [
      ['a stop that the service rolled back is success', 'if (leadsTo(goal, status)) ', ''],
      ['a refused stop is not billing', 'mayBeBilling: billing,', ''],
      [
        'the first Ctrl-C cuts a start',
        'api.instances.start(id, { signal, onSending })',
        'api.instances.start(id, { onSending })',
      ],
      [
        'a start after a doubt is success when still STOPPED',
        "status !== 'STARTING' && status !== 'ACTIVE'",
        "status === 'ERROR'",
        { tests: 'commands/instances/doubtful-change' },
      ],
      ['an interrupt after it was sent says that nothing was', '!sent && ', ''],
      ['no question comes before a change', 'await change.before?.(targets, context);', ''],
    ],
  },
  {
    file: 'instances/read.ts',
    tests: 'instances/ending',
    changes: [['a 404 page of a proxy is an end', "request?.obstacle !== 'web page'", 'true']],
  },
  {
    file: 'instances/change/ending.ts',
    tests: 'instances/ending',
    changes: [
      [
        'an accepted request that the service rolled back is an end',
        "if (leadsTo('TERMINATED', status)) {\n    return",
        'if (sent.isEffective) {\n    return',
      ],
      ['a rolled back request is refused for certain', 'sent.isOpen = true;', ''],
      [
        'a lost request is refused for certain',
        'sent.isOpen ||= rolledBack(error) === undefined;',
        '',
      ],
      [
        'a 404 is an end, although nothing was sent',
        'if (!sent.isEffective) return refused(fault, target);',
        '',
      ],
      ['a Retry-After is ignored', 'Math.max(pause, retryAfterMs)', 'pause'],
      ['an accepted request that was not read back is sent again', 'if (!sent.isUnread) {', '{'],
    ],
  },
  {
    file: 'retry-change.ts',
    tests: 'retry-change',
    changes: [
      [
        'a change is sent again although the state can not be read',
        'if (before === undefined) throw fault;',
        '',
      ],
      [
        'a change that failed twice is not billing',
        '{ mayBeBilling, retryable: true }',
        '{ retryable: true }',
      ],
    ],
  },
  {
    file: 'instances/change/outcome.ts',
    tests: `${VERBS} commands/instances/wait`,
    changes: [
      ['a wait past its deadline is not billing', 'mayBeBilling: billing,\n    events,', 'events,'],
      [
        'a create is retried after its wait',
        'error.retryable && after === undefined',
        'error.retryable',
      ],
    ],
  },
  {
    file: 'instances/waiting.ts',
    tests: VERBS,
    changes: [
      [
        'an unforeseen fault forgets that the instance bills',
        'throw withBill(error, ended, last?.status, events);',
        'throw error;',
      ],
    ],
  },
  {
    file: 'instances/resolve.ts',
    tests: 'instances/naming commands/instances/reading commands/instances/recover',
    changes: [
      [
        'a script terminates by a beginning with --yes',
        "if (found.by === 'beginning' && isChange && context.flags.yes) {",
        'if (false) {',
      ],
      [
        'a name of several takes the first',
        'if (other !== undefined) throw ambiguous(typed, found);',
        '',
      ],
      [
        'a namesake of an unresolved request is terminated',
        'if (isChange || !isSure) refusePending(',
        'if (false) refusePending(',
      ],
      [
        'an id in capital letters is another instance',
        'return { id: idKey(typed), name: idKey(typed) };',
        'return { id: typed, name: typed };',
      ],
    ],
  },
  {
    file: 'instances/match.ts',
    tests: 'instances/match',
    changes: [
      [
        'a name whose instance ended terminates a namesake',
        ' || !isChange || first.some(isOwn)',
        ' || true',
      ],
      ["the id of one wins over another's name", 'fitting: [...own, ...named] }', 'fitting: own }'],
    ],
  },
  {
    file: 'instances/rent/guards.ts',
    tests: 'instances/guards',
    changes: [
      [
        'one instance more than allowed is rented',
        'living.length + length <= most',
        'living.length + length <= most + 1',
      ],
      [
        'an open request costs nothing',
        'for (const one of open) costs.push(await openCost(one, prices));',
        '',
      ],
      [
        'a lost request counts at its limit',
        'max_price !== undefined && !isLost',
        'max_price !== undefined',
      ],
      ['a lost request of any price is sent', 'amount === undefined && isLost === true', 'false'],
      [
        'instances are not read again',
        'await readAll((await journal.read()).instances, context);',
        '',
      ],
      ['a request of unknown outcome is not counted', '[...unknown, ...inFlight]', '[...inFlight]'],
      ['a request in flight is not counted', '[...unknown, ...inFlight]', '[...unknown]'],
      ['a deadline is not required', 'guards.require_deadline === true && ', 'false && '],
    ],
  },
  {
    file: 'instances/recover/reconcile.ts',
    tests: 'commands/instances/recover instances/reconcile',
    changes: [
      [
        'an instance of another name settles a request',
        "!isSameName(name ?? '', wanted) || created",
        'created',
      ],
      [
        'two instances settle one request',
        'taken.has(instance.id) || found.has(request)',
        'taken.has(instance.id)',
      ],
      [
        'a name settles a request without a person',
        'if (prompts === undefined) return false;',
        'if (prompts === undefined) return true;',
      ],
      [
        '--yes settles a request by one of two instances',
        'others.length === 1 && fitting.get(request)?.length === 1',
        'fitting.get(request) !== undefined',
      ],
      [
        'a candidate gets the deadline without a question',
        'asked === undefined || !isOpen || context.flags.yes === true) return undefined;',
        'true) return undefined;',
      ],
    ],
  },
  {
    file: 'instances/rent/existing.ts',
    tests: 'instances/refusal',
    changes: [
      ['an instance in ERROR is returned', "if (status === 'ERROR') {", 'if (false) {'],
      [
        'an instance with another offer is returned',
        "...(await otherHardware('offer', found.offer, given, context)),",
        '',
      ],
      [
        'an instance with another image is returned',
        "...(await otherHardware('image', found.base_image, given, context)),",
        '',
      ],
      [
        'a price above --max-price is allowed',
        '!isOver(price_per_hour_snapshot, maxPrice)',
        'true',
      ],
    ],
  },
  {
    file: 'instances/known-instances.ts',
    tests: 'commands/instances/reading commands/status',
    changes: [
      ['an instance that can not be read is no fault', 'faults.push(read.fault);', ''],
      ['an unresolved request has no row', '[...newestFirst(lost), ...', '['],
    ],
  },
  {
    file: 'rules/statuses.ts',
    tests: 'rules/statuses',
    changes: [
      ['TERMINATING bills', "ENDS = { bills: 'no'", "ENDS = { bills: 'yes'"],
      ['STOPPED does not bill', "{ ...UNDOCUMENTED, ssh: 'no'", '{ ...ENDS, over: false'],
      ['a new status does not bill', "bills: 'undocumented'", "bills: 'no'"],
      ['a TERMINATING instance is over', '{ ...ENDS, over: false', '{ ...ENDS, over: true'],
    ],
  },
];
