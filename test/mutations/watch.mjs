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
        'a wait for TERMINATED does not end when the service rolled it back',
        "return seen.has('TERMINATING') && status !== 'TERMINATING';",
        'return false;',
      ],
      [
        'a wait for ACTIVE goes on in ERROR',
        "status === 'ERROR' || !mayBill(status)",
        '!mayBill(status)',
      ],
      ['a wait has no end', 'if (left() <= 0) throw deadline(wait, last);', ''],
      [
        'SSH need not answer',
        'if (wait.also === undefined || (await wait.also.holds(last, left()))) ',
        '',
      ],
    ],
  },
  {
    file: 'watch/poll.ts',
    tests: 'watch/poll watch/wait watch/watch',
    changes: [
      [
        'a refused key is tried again',
        "['authentication', 'usage', 'storage']",
        "['usage', 'storage']",
      ],
    ],
  },
  {
    file: 'watch/transient.ts',
    tests: 'watch/poll watch/wait watch/following commands/instances/follow',
    changes: [['one 404 ends a wait', 'GONE_RESPONSES = 2', 'GONE_RESPONSES = 1']],
  },
  {
    file: 'watch/follow.ts',
    tests: 'watch/handed-on watch/following watch/pace watch/long-follow commands/instances/follow',
    changes: [
      [
        'events that were not written count as handed on',
        'if (!(await options.flush())) return;',
        'if (!(await options.flush())) {}',
      ],
      ['the position is not saved', '\n      await options.onTaken();', ''],
      ['an event comes twice', 'for (const one of handed) one.log.take([one]);', ''],
      [
        'the position is saved before the events are written',
        'if (!(await options.flush())) return;\n      for (const one of handed) one.log.take([one]);\n      await options.onTaken();',
        'for (const one of handed) one.log.take([one]);\n      await options.onTaken();\n      if (!(await options.flush())) return;',
      ],
      [
        'a gap is not reported',
        'if (walk.gap !== undefined && first !== undefined) report.gap(log, walk.gap, first.time);',
        '',
      ],
    ],
  },
  {
    file: 'watch/log-walk.ts',
    tests: 'watch/log-walk watch/following watch/long-follow',
    changes: [
      ['an event on two pages comes twice', 'if (seen.has(id)) {', 'if (false) {'],
      ['a pruned log shows no gap', "isTornOff() ? 'pruned' :", ''],
      ['a log with missing events shows no gap', 'seen.size < total', 'false'],
    ],
  },
  {
    file: 'watch/cursor.ts',
    tests: 'watch/cursor watch/log-walk watch/following',
    changes: [['an event at the horizon is new', 'time <= horizon', 'time < horizon']],
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
        'a file of something else is written over',
        'if (!result.success) {',
        'if (!result.success && text === "") {',
      ],
    ],
  },
  {
    file: 'watch/ssh-endpoint.ts',
    tests: 'rules/rules commands/instances/connections commands/instances/ssh',
    changes: [
      ['any text is an address', 'if (verdict.ok) return verdict.value', 'return text as never'],
    ],
  },
];
