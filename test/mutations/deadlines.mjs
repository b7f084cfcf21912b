const CREATE = 'commands/instances/deadlines/create';
const REAP = 'commands/instances/deadlines/reap';
const CLOCKS = 'commands/instances/deadlines/clocks';
const SIGNED_OUT = 'commands/instances/deadlines/signed-out';
const INSTALL = 'commands/instances/deadlines/install';

export const deadlines = [
  {
    file: 'journal/sending.ts',
    tests: CREATE,
    changes: [
      [
        'the deadline is not on disk with the request',
        '{ body, ...request }: RentalRequest',
        '{ body, deadline: _deadline, ...request }: RentalRequest',
      ],
      [
        'an instance does not get the deadline of its request',
        'await inheritDeadline(folder, id, request);',
        '',
      ],
    ],
  },
  {
    file: 'journal/store.ts',
    tests: CREATE,
    changes: [
      [
        'a request that a killed process settled loses its deadline',
        'await inheritDeadline(request.folder, instance.record.id, request);',
        '',
      ],
    ],
  },
  {
    file: 'journal/deadlines.ts',
    tests: CREATE,
    changes: [
      [
        'a request overwrites the deadline that was set for its instance',
        'wanted === undefined || deadlineOf(folder, id) !== undefined',
        'wanted === undefined',
      ],
    ],
  },
  {
    file: 'instances/deadlines/service-time.ts',
    tests: `${CREATE} ${REAP} ${CLOCKS}`,
    changes: [
      [
        "a deadline follows this computer's clock",
        'now: () => first.service + clock.monotonic() - first.monotonic,',
        'now: () => clock.now(),',
      ],
      [
        'the time is not read before the first request',
        'if (!serviceClock.isKnown()) await ask();',
        '',
      ],
      ['one response is believed, however wrong', '|| Math.abs(drift) > CLOCKS.agree', ''],
      ['a clock that stands still agrees with itself', 'PAUSE = 3_000', 'PAUSE = 0'],
      [
        'a difference that has changed counts at once',
        'before === undefined || Math.abs(ahead - before) <= CLOCKS.moved',
        'true',
      ],
      ['9 minutes between the clocks go without a warning', '<= CLOCKS.noticed', '<= 600_000'],
    ],
  },
  {
    file: 'api/send.ts',
    tests: `api/responses ${CLOCKS}`,
    changes: [
      [
        'the time is read from an error or a page',
        'if (!isSuccess(status)) {',
        'call.settings.onDate?.(response.headers.date);\n  if (!isSuccess(status)) {',
      ],
    ],
  },
  {
    file: 'instances/deadlines/armed.ts',
    tests: `${CREATE} ${REAP} ${CLOCKS} ${INSTALL} ${SIGNED_OUT}`,
    changes: [
      [
        'a schedule that was removed arms',
        'entry !== undefined && !(await isThere(entry, profile, context))',
        'false',
      ],
      [
        'the schedule of other folders arms',
        'if (entry !== (await entryName(profile, context))) return false;',
        '',
      ],
      [
        'a schedule without a key arms',
        'stored === true ? await whyNotSignedIn(heartbeat, profile, context) : undefined',
        'undefined',
      ],
      ['a refused key arms', '? { at: null }', '? {}'],
      ['an old heartbeat arms', '< 2 * every', '< 3 * every'],
      [
        'a heartbeat from the future arms',
        'Math.abs(now - Date.parse(at))',
        'now - Date.parse(at)',
      ],
      ['the heartbeat of another service arms', 'one.service === service', 'true'],
      ['the heartbeat of another account arms', '|| one.account === account', '|| true'],
      [
        'a deadline needs no schedule',
        'if (reason === undefined) return;\n  throw',
        'if (reason !== 0) return;\n  throw',
      ],
      ['a schedule of an older version finishes jobs', '|| features.includes(feature)', '|| true'],
    ],
  },
  {
    file: 'instances/deadlines/reap.ts',
    tests: REAP,
    changes: [['a deadline is due before its time', 'Date.parse(deadline) <= now', 'true']],
  },
  {
    file: 'journal/known.ts',
    tests: 'commands/instances/deadlines/notify',
    changes: [
      [
        'a failed notification is not sent again',
        'if (await send(event)) await',
        'await send(event); await',
      ],
      ['a killed notification is not sent again', 'await writeEvent(path, event);', ''],
    ],
  },
  {
    file: 'journal/events.ts',
    tests: 'commands/instances/deadlines/notify',
    changes: [['a notification is sent for ever', '&& now - Date.parse(at) < RETRIED', '']],
  },
  {
    file: 'jobs/verbs/hand-over.ts',
    tests: 'jobs/hand-over',
    changes: [['a job that hangs keeps its instance', 'now() - since < 2 * LAST_TRY', 'true']],
  },
  {
    file: 'ssh/sign-in.ts',
    tests: 'ssh/sign-in',
    changes: [['reap gets no key file', 'file !== undefined && !isLocked', '!isLocked']],
  },
  {
    file: 'instances/deadlines/deadline.ts',
    tests: CREATE,
    changes: [['a terminated instance gets a deadline', '!mayBill(status)', 'false']],
  },
  {
    file: 'instances/scheduler/index.ts',
    tests: INSTALL,
    changes: [
      [
        'a second state folder replaces the schedule of the first',
        'update(`${config}\\0${state}`)',
        'update(config)',
      ],
    ],
  },
  {
    file: 'commands/profiles/index.ts',
    tests: SIGNED_OUT,
    changes: [['the schedule of a removed profile stays', 'await disarm(name, context);', '']],
  },
  {
    file: 'context/service.ts',
    tests: SIGNED_OUT,
    changes: [['a refused key still enforces deadlines', 'isKeyRefused ||= status === 401;', '']],
  },
  {
    file: 'journal/known.ts',
    tests: 'commands/instances/deadlines/full-disk',
    changes: [
      [
        'a full disk keeps an overdue instance',
        'if (!isHeld) return held();',
        'if (!isHeld) throw cause;',
      ],
    ],
  },
  {
    file: 'instances/deadlines/arm.ts',
    tests: INSTALL,
    changes: [
      ['an address of this shell is scheduled', " && baseUrl?.source === 'profile'", ''],
      [
        'a failed first run counts as armed',
        'if (failure !== undefined && failure.at !== before?.failure?.at)',
        'if (false)',
      ],
      ['a password of a proxy is written to a unit', "|| value.includes('@')", ''],
      [
        'deadlines stay armed after --uninstall',
        'removeHeartbeat((await context.folders()).state, profile);',
        '',
      ],
    ],
  },
  {
    file: 'instances/scheduler/crontab.ts',
    tests: INSTALL,
    changes: [
      ['the other lines of a crontab are lost', '[...others, cronLine(job)]', '[cronLine(job)]'],
      ['an unreadable crontab counts as empty', '&& /no crontab/i.test(stderr)', ''],
    ],
  },
  {
    file: 'instances/scheduler/schtasks.ts',
    tests: `${INSTALL} instances/scheduler`,
    changes: [
      [
        'no deadline is enforced on battery power',
        '<DisallowStartIfOnBatteries>false',
        '<DisallowStartIfOnBatteries>true',
      ],
      ['a long copy holds up deadlines', '>Parallel<', '>IgnoreNew<'],
      ['cmd expands a variable in the name of a folder', '/["%\\r\\n]/', '/["\\r\\n]/'],
      ['a removed task counts as scheduled', 'code === 0 && stdout.includes(name)', 'code !== -1'],
      ['the first run waits for the timer', "await run('/Run', '/TN', job.name);", ''],
    ],
  },
  {
    file: 'idle/idle-rule.ts',
    tests: 'idle/idle-rule',
    changes: [
      [
        'a reading that failed keeps the idle time',
        'state: NOTHING_KNOWN, isDue: false',
        'state, isDue: false',
      ],
      ['a job does not count as use', 'load > CARD || job', 'load > CARD'],
      ['input does not count as use', 'signs.input < seconds + INPUT_LAG', 'false'],
      ['traffic does not count as use', 'traffic - before.traffic >= TRAFFIC * seconds', 'false'],
      ['a gap keeps the idle time', '(2 * every) / 1000', 'Number.POSITIVE_INFINITY'],
      ['a restart keeps the idle time', 'now.boot !== before.boot ||', ''],
      [
        'a step of the clock ends an instance',
        'Math.abs(byService - seconds) * 1000 > CLOCKS.interval ||',
        '',
      ],
      ['a card without a load is idle', '|| loads.includes(null)', ''],
    ],
  },
  {
    file: 'idle/sample.ts',
    tests: 'idle/sample',
    changes: [
      ['only who shows input', 'Math.min(a.value, b.value)', 'a.value'],
      [
        'a terminal of unknown age is idle',
        "if ('fault' in b) return b;",
        "if ('fault' in b) return a;",
      ],
    ],
  },
  {
    file: 'idle/probe-script.ts',
    tests: 'idle/sample',
    changes: [['a missing stat shows no terminal', '"$pty") || return', '"$pty") || continue']],
  },
  {
    file: 'idle/end-idle.ts',
    tests: 'idle/end-idle',
    changes: [
      ['one look is enough', 'first.isDue && (await look()).isDue', 'first.isDue'],
      ['results that are not copied yet are lost', '|| itsJobs.some(mayHaveResults)', ''],
      [
        'evidence of a killed process counts',
        'found === undefined || found.begun',
        'found === undefined',
      ],
      [
        'the evidence is not marked before the look',
        'await write({ begun: true, since: before.since, last: before.last });',
        '',
      ],
    ],
  },
];
