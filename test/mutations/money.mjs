const BOOKS = 'money commands/billing/spend-runway';

export const money = [
  {
    file: 'money/termination.ts',
    tests: 'instances/paid-hour commands/instances/before-the-deed commands/instances/lifecycle',
    changes: [
      ['more comes back than was reserved', 'left > HOUR', 'left > 2 * HOUR'],
      ['what comes back is rounded up', '.round(2, 0)', '.round(2, 3)'],
      ['an hour that is over comes back', 'left <= 0', 'left < -HOUR'],
      [
        'an instance that is over is asked about',
        'if (read.every((instance) => isTerminated(instance?.status))) return undefined;',
        '',
      ],
      [
        'what came back is told though it was not expected',
        'changed.filter((one) => expected.has(one.id))',
        'changed',
      ],
      ['what was billed before is told', ' && (instant(created_at) ?? 0) >= since', ''],
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
      [
        'a charge that comes in is charged',
        'Object.hasOwn(HEADINGS, type) && DIRECTIONS[type] === direction',
        'Object.hasOwn(HEADINGS, type)',
      ],
      [
        'the direction in the response is ignored',
        "if (direction === 'INCOMING' || direction === 'OUTGOING') {",
        'if (false) {',
      ],
      ['a bonus is a deposit', "BONUS: 'bonus',", "BONUS: 'deposited',"],
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
      [
        'a transaction at the beginning does not count',
        'at < from || at >= to',
        'at <= from || at >= to',
      ],
      ['refunds are not taken off', 'sums.charged.minus(sums.refunded)', 'sums.charged'],
      [
        'a negative amount is not reported',
        "if (posting.amount.lt(0)) left.add('sign', entry.id);",
        '',
      ],
      [
        'a transaction without a time is not reported',
        "if (at === undefined) return left.add('time', entry.id);",
        'if (at === undefined) return;',
      ],
      ['the total leaves a transaction out', 'post(total, entry, posting);', ''],
      [
        'empty periods before the account are shown',
        '!trimmed || startOf(step, start, 1) > first',
        'true',
      ],
      [
        'the last period goes beyond the end',
        'Math.min(startOf(step, start, 1), to)',
        'startOf(step, start, 1)',
      ],
      ['the first period goes before the beginning', 'Math.max(start, from)', 'start'],
      ['other types of one name are one', '`${type}\\n${posting.direction}`', 'type'],
      ['the last period is left out', 'start <= last;', 'start < last;'],
    ],
  },
  {
    file: 'money/burn.ts',
    tests: `${BOOKS} commands/status`,
    changes: [
      ['a suspended drive costs nothing', "['SUSPENDED', 'yes'],", "['SUSPENDED', 'no'],"],
      [
        'a drive of a new status costs nothing',
        "DRIVES.get(status) ?? 'untold'",
        "DRIVES.get(status) ?? 'no'",
      ],
      ['a negative price counts', 'amount.ok && amount.value.gte(0)', 'amount.ok'],
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
      [
        'an instance that could not be read costs nothing',
        ' ?? last?.price_per_hour ?? null',
        ' ?? null',
      ],
    ],
  },
  {
    file: 'money/runway.ts',
    tests: BOOKS,
    changes: [
      [
        'a balance of zero has no runway',
        'balance.lte(0) ? zero()',
        'balance.lt(0) ? zero()',
        { equivalent: 'Zero divided by the rate is zero seconds too.' },
      ],
      ['a debt lasts', 'balance.lte(0) ? zero() : ', ''],
      [
        'a runway is rounded up',
        'quotient.times(divisor).gt(dividend) ? quotient.minus(1) : quotient',
        'quotient',
      ],
      [
        'hours are rounded up',
        '.round(0, 0)',
        '.round(0, 3)',
        { equivalent: 'The next line takes off what was rounded up.' },
      ],
      ['the year 10000 is a date', 'end.gt(LAST) ? undefined', 'false ? undefined'],
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
        'a runway is known although instances were not read',
        '!read.instances || !read.drives',
        '!read.drives',
      ],
      [
        'a runway is known although drives were not read',
        '!read.instances || !read.drives',
        '!read.instances',
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
      [
        'unexplained charges are rounded down',
        '.round(2, 3);\n  const perHour',
        '.round(2, 0);\n  const perHour',
      ],
      ['a month has 28 days', 'month: 720', 'month: 672'],
    ],
  },
  {
    file: 'money/charges.ts',
    tests: `${BOOKS} commands/status`,
    changes: [
      ['a charge at the end of the window is left out', 'at > window.to)', 'at >= window.to)'],
      [
        'a charge at the beginning of the window counts',
        'at <= window.from ||',
        'at < window.from ||',
      ],
      [
        'an unclear charge is left out',
        "if (isUnclear && entry.type === 'USAGE_CHARGE') return undefined;",
        '',
      ],
      [
        'each thing explains one hour less',
        '.times(Math.max(0, end - start) + HOUR + debt)',
        '.times(Math.max(0, end - start) + debt)',
      ],
      [
        'a price that is not known explains nothing',
        'if (amount === undefined) return undefined;',
        'if (amount === undefined) continue;',
      ],
      [
        'a frozen drive explains no debt',
        "kind === 'drive' && toppedUp ? SUSPENDED_HOURS * HOUR : 0",
        '0',
      ],
      ['a window of minutes is checked', 'now - start >= HOUR', 'now - start >= 0'],
      [
        'an instance that ended explains charges for ever',
        'const end = Math.min(to ?? window.to, window.to);',
        'const end = window.to;',
      ],
      [
        'what is explained is rounded down',
        'most.div(HOUR).round(2, 3)',
        'most.div(HOUR).round(2, 0)',
      ],
    ],
  },
  {
    file: 'money/account.ts',
    tests: `${BOOKS} commands/status`,
    changes: [
      [
        'one part that fails hides the others',
        'if (!isOfOneReading(error)) throw error;',
        'throw error;',
      ],
      [
        'an instance that was not read is no fault',
        "if (unread !== undefined) faults.push({ part: 'instances', error: unread });",
        '',
      ],
      [
        'instances that ended explain no charges',
        'const again = check([...known, ...ended]);',
        'const again = checked;',
      ],
    ],
  },
  {
    file: 'money/recent-history.ts',
    tests: `${BOOKS} commands/status`,
    changes: [
      [
        'a page at the same moment is left out',
        'Math.max(oldest + 1, since)',
        'Math.max(oldest, since)',
      ],
      [
        'a history in no order is taken as whole',
        'isNewestFirst ? Math.max(oldest + 1, since) : undefined',
        'Math.max(oldest + 1, since)',
      ],
    ],
  },
  {
    file: 'money/history.ts',
    tests: `${BOOKS} commands/billing/transactions`,
    changes: [
      ['a transaction on two pages counts twice', 'data.filter(({ id }) => add(id))', 'data'],
      [
        'a service that does not page is read for ever',
        'if (repeated === STUCK) {',
        'if (false) {',
        { tests: 'commands/billing/transactions' },
      ],
      [
        'a history that became shorter is not reported',
        'if (meta.total < total) {',
        'if (false) {',
      ],
      ['a history with a gap is not reported', 'if (isLast && given < total) {', 'if (false) {'],
    ],
  },
  {
    file: 'money/totals.ts',
    tests: 'money commands/billing/transactions',
    changes: [
      [
        'a transaction that FAILED counts',
        "} else if (status !== 'COMPLETED') {",
        "} else if (status === 'PENDING') {",
      ],
      ['a transaction without a direction is not reported', "left.add('direction', id);", ''],
    ],
  },
  {
    file: 'money/calendar.ts',
    tests: 'money/calendar',
    changes: [
      ['a week starts on Sunday', '(date.getDay() + 6) % 7', 'date.getDay()'],
      ['a week is of the year of its Monday', 'date.getDate() + 3, 12', 'date.getDate(), 12'],
    ],
  },
  {
    file: 'money/suspension.ts',
    tests: 'money/suspension',
    changes: [
      ['a drive is deleted after eight days', '7 * 24 * 3_600_000', '8 * 24 * 3_600_000'],
      ['a drive is deleted at the latest time first', 'Math.min(...since)', 'Math.max(...since)'],
    ],
  },
  {
    file: 'money/faults.ts',
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
      ['a price of zero is allowed as a limit', 'verdict.value.lte(0)', 'verdict.value.lt(0)'],
      ['a third decimal is cut', 'decimals < 2 ?', 'decimals < 4 ?'],
      ['a sum is rounded beyond 2^53', 'kopecks + amount <= Number.MAX_SAFE_INTEGER', 'true'],
      ['a sum forgets what was large', 'settle();\n        kopecks = amount;', 'kopecks = amount;'],
    ],
  },
  {
    file: 'rules/is-money.ts',
    tests: 'rules',
    changes: [
      [
        'an amount with a letter is an amount',
        'if (digit < 0 || digit > 9) return undefined;',
        'if (digit < 0) return undefined;',
      ],
      [
        'an amount may be very long',
        'point < 1 || text.length > LONGEST || ',
        'point < 1 || ',
        { tests: 'rules money' },
      ],
    ],
  },
];
