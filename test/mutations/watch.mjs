export const watch = [
  {
    file: 'watch/wait.ts',
    tests: 'watch/wait',
    changes: [
      [
        'a wait for STOPPED ends at the first ACTIVE',
        "seen.has('STOPPING') && status === 'ACTIVE'",
        "status === 'ACTIVE'",
      ],
      [
        'a wait for STOPPED does not end when the stop failed',
        "if (target === 'STOPPED') return seen.has('STOPPING') && status === 'ACTIVE';",
        '',
      ],
      [
        'a wait for TERMINATED ends at the first other status',
        "return seen.has('TERMINATING') && status !== 'TERMINATING';",
        "return status !== 'TERMINATING';",
      ],
      [
        'a wait for TERMINATED does not end when the service rolled it back',
        "return seen.has('TERMINATING') && status !== 'TERMINATING';",
        'return false;',
      ],
      [
        'a wait for ACTIVE goes on in ERROR',
        "status === 'ERROR' || !mayBill(status)",
        '!mayBill(status)',
      ],
      [
        'a wait for ACTIVE goes on when it is TERMINATING',
        "status === 'ERROR' || !mayBill(status)",
        "status === 'ERROR'",
      ],
      [
        'a wait for ACTIVE goes on in STOPPED',
        "return target === 'ACTIVE' && status === 'STOPPED';",
        'return false;',
      ],
      [
        'a wait forgets the status in the response before it',
        'new Set(wait.after === undefined ? [] : [wait.after])',
        'new Set<string>()',
      ],
      ['a wait has no end', 'if (left() <= 0) throw deadline(wait, last);', ''],
      ['a wait takes one reading less', 'left() <= 0', 'left() <= interval'],
      ['the last reading has no time', 'Math.max(LAST_READING_MS, left())', 'left()'],
      [
        'a pause past the deadline is waited for',
        'if (asked > 0 && asked > left()) throw askedTooMuch(fault, asked, left(), last);',
        '',
      ],
      [
        'SSH need not answer',
        'if (wait.also === undefined || (await wait.also.holds(last, left()))) return last;',
        'return last;',
      ],
      [
        'a reading after the interrupt counts',
        'signal.throwIfAborted();',
        '',
        {
          equivalent:
            'The poll throws the same reason before its next reading; only the check of SSH ends later.',
        },
      ],
      [
        'the reason of the provider is lost',
        'instance.failure_reason ? `: ${instance.failure_reason}` : ',
        'false ? "" : ',
      ],
    ],
  },
  {
    file: 'watch/poll.ts',
    tests: 'watch/poll watch/wait watch/watch',
    changes: [
      [
        'a first reading that fails is tried again',
        'if (!hasRead && wasThere === undefined) return false;',
        '',
      ],
      [
        'a refused key is tried again',
        "['authentication', 'usage', 'storage']",
        "['usage', 'storage']",
      ],
      ['the pause does not grow', 'interval * 2 ** (faults - 1)', 'interval'],
      [
        'the pause grows for ever',
        'Math.min(LONGEST_PAUSE_MS, interval * 2 ** (faults - 1))',
        'interval * 2 ** (faults - 1)',
      ],
      ['the pause stays long after a success', 'faults = 0;\n      transient', 'transient'],
      [
        'a pause that the service asks for is cut',
        'turn.isAsked ? undefined : options.left?.()',
        'options.left?.()',
      ],
      [
        'a pause that the service asks for is not kept',
        'pause: Math.max(own, asked)',
        'pause: own',
      ],
      [
        'a poll of what can not change goes on',
        "if ('value' in turn && options.isOver?.(turn.value) === true) return;",
        '',
      ],
      ['an interrupt is a fault that passes', 'if (isInterrupt(error) || FINAL', 'if (FINAL'],
    ],
  },
  {
    file: 'watch/transient.ts',
    tests: 'watch/poll watch/wait watch/following commands/instances/follow',
    changes: [
      ['one 404 ends a wait', 'GONE_RESPONSES = 2', 'GONE_RESPONSES = 1'],
      ['a 404 more is waited for', 'GONE_RESPONSES = 2', 'GONE_RESPONSES = 3'],
      ['odd responses in between never count as mended', 'odd = 0;\n      missing', 'missing'],
      ['404s in between never count as mended', 'missing = 0;\n    },', '},'],
      ['a sixth odd response is waited for', 'odd < ODD_RESPONSES', 'odd <= ODD_RESPONSES'],
      [
        'an unreachable service ends a wait',
        "error.failure === 'unreachable' || error.retryable",
        'false',
      ],
    ],
  },
  {
    file: 'watch/outage.ts',
    tests: 'watch/watch commands/instances/follow commands/instances/lifecycle',
    changes: [
      ['each failed reading is reported', 'if (isNews) report.lost', 'report.lost'],
      [
        'a pause during an outage is not reported',
        'since === undefined || (retryAfter !== undefined && !hasAsked)',
        'since === undefined',
      ],
      [
        'the second pause during an outage is reported',
        'hasAsked ||= retryAfter !== undefined;',
        '',
      ],
      ['a second outage is not reported', 'since = undefined;\n      hasAsked', 'hasAsked'],
    ],
  },
  {
    file: 'watch/follow.ts',
    tests: 'watch/following watch/pace watch/long-follow commands/instances/follow',
    changes: [
      [
        'events come newest first',
        'found.sort((a, b) => a.time - b.time)',
        'found.sort((a, b) => b.time - a.time)',
      ],
      [
        'events that were not written count as handed on',
        'if (!(await options.flush())) return;',
        'if (!(await options.flush())) {}',
      ],
      [
        'the position is not saved',
        'for (const one of handed) one.log.take([one]);\n      await options.onTaken();',
        'for (const one of handed) one.log.take([one]);',
      ],
      ['an event comes twice', 'for (const one of handed) one.log.take([one]);', ''],
      [
        'the position is saved before the events are written',
        'if (!(await options.flush())) return;\n      for (const one of handed) one.log.take([one]);\n      await options.onTaken();',
        'for (const one of handed) one.log.take([one]);\n      await options.onTaken();\n      if (!(await options.flush())) return;',
      ],
      [
        'events behind the last one come',
        'if (over.has(one.log) && !ending.has(one.log)) continue;',
        '',
      ],
      [
        'a log that ended is not looked at once more',
        '(ending.has(log) ? over : ending).add(log)',
        'over.add(log)',
      ],
      [
        'a gap is not reported',
        'if (walk.gap !== undefined && first !== undefined) report.gap(log, walk.gap, first.time);',
        '',
      ],
      [
        'where a log begins is not saved',
        'if (isFirst && found.length === 0) await options.onTaken();',
        '',
      ],
      [
        'a fault that waiting does not mend is waited for',
        'if (fatal !== undefined) throw fatal;',
        '',
      ],
      [
        'a log that is gone ends the others',
        '!over.has(log) && !gone.has(log)',
        '!over.has(log) && gone.size === 0',
      ],
      [
        'pauses have no jitter',
        'Math.round(pause * (1 - JITTER + 2 * JITTER * clock.random()))',
        'Math.round(pause)',
      ],
      ['pauses grow for ever', 'Math.min(pause * GROWTH, shortest * LONGEST)', 'pause * GROWTH'],
      ['pauses stay long when something comes', 'isBusy ? shortest : ', ''],
    ],
  },
  {
    file: 'watch/follower.ts',
    tests: 'watch/following watch/long-follow commands/instances/follow',
    changes: [
      [
        'a longer log does not show that an event came late',
        '(isFull || tally.hidden(walk) > 0)',
        'isFull',
      ],
      [
        'the memory forgets events without a deep walk before',
        '(isFull || tally.hidden(walk) > 0)',
        'tally.hidden(walk) > 0',
      ],
      [
        'an event that was counted before it was listed is reported as missed',
        'Math.max(0, Math.min(suspected, still))',
        'Math.max(0, still)',
      ],
      [
        'an event out of reach is reported again and again',
        'accounted === undefined || count > 0 || isOff',
        'accounted === undefined || isOff',
      ],
      ['late events are looked for once only', '>= SWEEP_EVERY', '>= 1000 * SWEEP_EVERY'],
      ['the last look does not go deep', 'how.isSweep === true || ', ''],
      ['what was before the beginning comes as news', 'cursor.learn(walk.older);', ''],
    ],
  },
  {
    file: 'watch/log-walk.ts',
    tests: 'watch/log-walk watch/following watch/long-follow',
    changes: [
      [
        'a walk ends at nine known events',
        'const SETTLED = 10',
        'const SETTLED = 9',
        {
          equivalent:
            'How many known events in a row end a walk is a choice: one less only looks a little less deep.',
        },
      ],
      ['a walk ends at the first known event', 'const SETTLED = 10', 'const SETTLED = 1'],
      [
        'a log that became shorter is walked on',
        "now.total < before.total ? 'shorter' : undefined",
        'undefined',
      ],
      [
        'pages that became longer are walked on',
        "if (now.limit > before.limit || now.length > before.length) return 'longer';",
        '',
      ],
      [
        'events that came in while walking come late',
        "if ((now.newest ?? 0) > (before.oldest ?? Number.POSITIVE_INFINITY)) return 'moved';",
        '',
      ],
      ['an event on two pages comes twice', 'if (seen.has(id)) {', 'if (false) {'],
      ['a pruned log shows no gap', "isTornOff() ? 'pruned' : undefined", 'undefined'],
      ['a walk that gathered too much shows no gap', "end === 'bound' ? 'bound' : ", ''],
      [
        'an event at the beginning is left out',
        'time < (options.since?.()',
        'time <= (options.since?.()',
      ],
      [
        'an event without a time happened now',
        'instant(event.created_at) ?? time ?? options.now()',
        'instant(event.created_at) ?? options.now()',
      ],
      ['a walk begins again for ever', 'slipsLeft[slip] -= 1;', ''],
    ],
  },
  {
    file: 'watch/cursor.ts',
    tests: 'watch/cursor watch/log-walk watch/following',
    changes: [
      ['an event at the horizon is new', 'time <= horizon', 'time < horizon'],
      [
        'the horizon goes back',
        'horizon = Math.max(horizon, timeAt(cut) ?? horizon);',
        'horizon = timeAt(cut) ?? horizon;',
      ],
      ['a cursor remembers every event', 'if (known.size > 2 * kept) forget();', ''],
      [
        'the horizon is not saved',
        'horizon: Number.isFinite(horizon) ? horizon : null',
        'horizon: null',
      ],
    ],
  },
  {
    file: 'watch/resume.ts',
    tests: 'watch/resume',
    changes: [
      [
        'the position is not on disk when it is saved',
        'await replaceFile(path,',
        'void replaceFile(path,',
      ],
      [
        'the logs of an earlier run are dropped',
        'for (const [log, cursor] of logs) saved.set(log, cursor);',
        'saved.clear();\n      for (const [log, cursor] of logs) saved.set(log, cursor);',
      ],
      [
        'the file is not tried before events are printed',
        "await write('name a file in a folder that you may write to');",
        '',
      ],
      [
        'a file of something else is written over',
        'if (!result.success) {',
        'if (!result.success && text === "") {',
      ],
      ['a link is replaced', 'await realpath(named).catch(() => named)', 'named'],
    ],
  },
  {
    file: 'watch/ssh-endpoint.ts',
    tests: 'rules/rules commands/instances/connections commands/instances/ssh',
    changes: [
      [
        'any text is an address',
        'if (verdict.ok) return verdict.value;\n  const shown',
        'return text as never;\n  const shown',
      ],
      ['any text is a user', "return accepted(id, 'user name', user, sshUser);", 'return user;'],
      ['the usual port is always taken', 'return port === 22 ? `ssh', 'return port !== 0 ? `ssh'],
    ],
  },
];
