const BOOKS = 'money commands/billing/spend-runway';

export const money = [
  {
    file: 'money/termination.ts',
    tests: 'instances/paid-hour commands/instances/confirmations commands/instances/lifecycle',
    changes: [['more comes back than was reserved', 'left > HOUR', 'left > 2 * HOUR']],
  },
  {
    file: 'money/exact.ts',
    tests: 'commands/audit',
    changes: [
      ['the update is sent again', 'sent = true;', ''],
      [
        'an account without a name is updated',
        "name == null || name.trim() === ''",
        'name == null',
      ],
      ['a change of the balance is not seen', 'before.balance !== after.balance', 'false'],
      ['a change of an instance is not seen', 'seen(instances) === seen(rows)', 'true'],
      ['less than the known prices is ok', 'if (more.eq(0) ||', 'if (more.lte(0) ||'],
      ['a stopped instance holds nothing', 'more.lt(most.plus(rounding(exact.rows)))', 'false'],
      ['an untracked instance holds nothing', ' && hidden.length === 0', ''],
    ],
  },
  {
    file: 'money/audit.ts',
    tests: 'commands/audit',
    changes: [
      ['a charge a day after the end is found', 'endedAt + LATE', 'endedAt'],
      ['an instance that runs again is over', 'if (mayBill(status)) {', 'if (false) {'],
    ],
  },
  {
    file: 'money/account.ts',
    tests: 'commands/status',
    changes: [
      [
        'a drive never had another price',
        'drives.some((drive) => isChanged(drive, now))',
        'drives.length < 0',
      ],
    ],
  },
  {
    file: 'money/ledger.ts',
    tests: `${BOOKS} commands/billing/transactions`,
    changes: [
      [
        'a PENDING deposit counts',
        "if (entry.status !== 'COMPLETED') return",
        "if (entry.status === 'FAILED') return",
      ],
      ['a refund goes out', "REFUND: 'INCOMING',", "REFUND: 'OUTGOING',"],
      ['a charge that comes in is charged', ' && DIRECTIONS[type] === direction', ''],
    ],
  },
  {
    file: 'money/spend.ts',
    tests: BOOKS,
    changes: [
      [
        'a transaction at the end of the period counts',
        'at < from || at >= to',
        'at < from || at > to',
      ],
      ['refunds are not taken off', 'sums.charged.minus(sums.refunded)', 'sums.charged'],
      ['the total leaves a transaction out', 'post(total, entry, posting);', ''],
    ],
  },
  {
    file: 'money/rows.ts',
    tests: `${BOOKS} commands/status`,
    changes: [
      ['a suspended drive costs nothing', "['SUSPENDED', 'yes'],", "['SUSPENDED', 'no'],"],
      [
        'a drive of a new status costs nothing',
        "DRIVES.get(status) ?? 'undocumented'",
        "DRIVES.get(status) ?? 'no'",
      ],
      [
        'what may bill is in the rate',
        "if (bills === 'yes' && price !== undefined) {",
        'if (price !== undefined) {',
      ],
      [
        'a price that is not known costs nothing at most',
        'price === undefined ? undefined : more?.plus(price)',
        'more?.plus(price ?? 0)',
      ],
    ],
  },
  {
    file: 'money/facts.ts',
    tests: BOOKS,
    changes: [
      ['a debt lasts', 'balance.lte(0) ? zero() : ', ''],
      ['nothing spent lasts no time', 'if (perHour.lte(0)) {', 'if (perHour.lt(0)) {'],
    ],
  },
  {
    file: 'money/facts.ts',
    tests: `${BOOKS} commands/status`,
    changes: [
      [
        'the rate is known although drives were not read',
        'read.instances && read.drives;',
        'read.instances;',
      ],
      [
        'a runway is known although a price is not',
        "if (burn.atMost === undefined) return 'price_not_told';",
        '',
      ],
      [
        'unexplained charges are not in the rate',
        'burn.perHour.plus(unexplainedPerHour)',
        'burn.perHour',
      ],
    ],
  },
  {
    file: 'money/account.ts',
    tests: `${BOOKS} commands/status`,
    changes: [
      [
        'one part that fails hides the others',
        '\n    if (!isOfOneReading(error)) throw error;',
        '\n    throw error;',
      ],
    ],
  },
  {
    file: 'money/rows.ts',
    tests: 'money/suspension',
    changes: [['a drive is deleted after eight days', '7 * 24 * 3_600_000', '8 * 24 * 3_600_000']],
  },
  {
    file: 'money/account.ts',
    tests: `${BOOKS} commands/status`,
    changes: [
      [
        'what could not be read ends with success',
        'alikeFaults(faults).map(',
        'alikeFaults([]).map(',
      ],
    ],
  },
  {
    file: 'rules/money.ts',
    tests: 'rules',
    changes: [
      [
        'a price that is just allowed is over the limit',
        'priceIn(price)?.lte(limit) !== true',
        'priceIn(price)?.lt(limit) !== true',
        { tests: 'rules/rules' },
      ],
      [
        'a negative price is allowed',
        'price.ok && price.value.gte(0) ? price.value : undefined',
        'price.ok ? price.value : undefined',
        { tests: 'rules/rules' },
      ],
      ['a price of zero is allowed as a limit', 'verdict.value.lte(0)', 'verdict.value.lt(0)'],
      ['a sum is rounded beyond 2^53', 'kopecks + amount <= Number.MAX_SAFE_INTEGER', 'true'],
    ],
  },
];
