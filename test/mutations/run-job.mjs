const tests = 'jobs/hostile jobs/partial-fetch jobs/copy-out';

export const runJob = [
  {
    file: 'jobs/command.ts',
    tests: 'jobs/plan',
    changes: [
      ['a variable may be missing', 'if (missing.length > 0)', 'if (missing.length > 9)'],
      ['ssh gets the values', '!OF_PROGRAMS.test(name)', 'OF_PROGRAMS.test(name)'],
      ['the shown command has the values', 'length >= SHORTEST_SECRET', 'length < SHORTEST_SECRET'],
      ['a value may have a NUL byte', "value.includes('\\0')", "value.includes('\\0\\0')"],
    ],
  },
  {
    file: 'commands/run/index.ts',
    tests: 'jobs/plan',
    changes: [
      [
        'a typed value is shown',
        "includes('=') ? checkedSecret : checked",
        "includes('=') ? checked : checkedSecret",
      ],
    ],
  },
  {
    file: 'jobs/files/unpack.ts',
    tests,
    changes: [
      ['a path may leave the folder', " || parts.includes('..')", ''],
      ['a path may be absolute', "name.startsWith('/') || parts", 'parts'],
      ['a hard link may leave the folder', "inside(linkname ?? '')", "linkname ?? ''"],
      ['set-uid is kept', 'mode: mode & 0o777', 'mode'],
      ['a folder may be closed to its owner', '(mode & 0o777) | 0o700', 'mode & 0o777'],
      ['a header may be endless', 'sinceEntry > LONGEST_HEADER', 'sinceEntry < 0'],
      ['a file may have no size', '!(size >= 0)', 'size === Number.MAX_VALUE'],
    ],
  },
  {
    file: 'jobs/files/merge.ts',
    tests,
    changes: [
      ['a folder is merged with the home folder', 'home === undefined || ', 'home !== "" || '],
      ['a later attempt merges with it', 'await ensureApart(dirname(staging), home);', ''],
      ['a link in a place is followed', 'await lstat(path)', 'await stat(path)'],
      ['files are moved into a mounted disk', 'if (dev !== own)', 'if (dev < 0)'],
      ['a file is put in place of more than a file', "|| there === 'other'", ''],
      ['a link may be absolute', 'isAbsolute(target) || ', ''],
      ['.. may follow a name', "|| parts.lastIndexOf('..') > first", ''],
      ['a link may leave the folder', "place.split('/')[0] !== '..' && ", ''],
      ['a link may lead through a link of the user', '&& contains(root, await endOf(', '|| ((0, '],
      ['a refused archive leaves its files', '    await removeStaging(staging);', ''],
    ],
  },
  {
    file: 'jobs/files/local-file.ts',
    tests,
    changes: [
      ['a file is followed if it is a link', "'wx'", "'w'"],
      [
        'a file may be larger than the disk',
        'if (size <= free) return undefined;',
        'return undefined;',
      ],
      ['a file that was cut stays', 'await unlink(path)', 'await lstat(path)'],
      ['a device is replaced', "'folder' : 'other'", "'folder' : 'file'"],
    ],
  },
  {
    file: 'jobs/files/copy-out.ts',
    tests,
    changes: [
      [
        'bytes get lost before the local file is open',
        'afterLine(received',
        'afterLine(running.stdout',
      ],
    ],
  },
  {
    file: 'jobs/files/copy-out-each.ts',
    tests,
    changes: [
      ['a fetched path is fetched again', '(one.fetched_at ?? null) === null', 'true'],
      ['a missing path decides', "kind !== 'missing'", "kind === 'missing'"],
    ],
  },
  {
    file: 'jobs/files/files.ts',
    tests: 'jobs/files',
    changes: [
      ['a nested pattern holds in one folder only', '`**/${pattern}`', 'pattern'],
      ['a folder name is a pattern', "'\\\\$&'", "'$&'"],
    ],
  },
  {
    file: 'jobs/files/changed.ts',
    tests: 'jobs/files',
    changes: [
      ['a line may be endless', 'rest.length > LONGEST_LINE', 'rest.length < 0'],
      ['a folder stays in the way of a file', 'inTheWay.push(path)', ''],
    ],
  },
  {
    file: 'jobs/files/send-scripts.ts',
    tests: `${tests} jobs/patterns`,
    changes: [
      ['a pipe of the instance is read', '[ -f "$1" ]', '[ -e "$1" ]'],
      ['two matches of one name are one file', '[ "$same" -eq 0 ]', '[ "$same" -ge 0 ]'],
    ],
  },
  {
    file: 'jobs/files/pattern.ts',
    tests: 'jobs/patterns',
    changes: [
      ['a star sends hidden files', "'(?!\\\\.)'", "''"],
      ['a pattern may match a part of a name', '^${hidden}', '${hidden}'],
    ],
  },
  {
    file: 'jobs/state.ts',
    tests: 'jobs/state jobs/drive-model',
    changes: [
      ['a command starts twice', 'const starts = !job.started && (', 'const starts = ('],
      [
        'a command that was shown never started',
        "(!job.shown && seen.kind === 'absent')",
        "seen.kind === 'absent'",
      ],
      [
        'results are fetched after an uncertain end',
        "if (job.ending && state.kind !== 'ended' && state.kind !== 'gone') return 'end';",
        '',
      ],
      [
        'reap copies nothing after the deadline',
        "return now.time === 'past' && driver !== 'reap' ? 'end' : 'collect';",
        "return now.time === 'past' ? 'end' : 'collect';",
      ],
      [
        'run leaves an instance that nothing ends',
        "return driver === 'reap' || now.isArmed ? 'leave' : 'stay';",
        "return 'leave';",
      ],
    ],
  },
  {
    file: 'jobs/stages/start.ts',
    tests: 'jobs/terminating jobs/reading',
    changes: [['a start is not stored before it', 'await writeJob(job.record, context);', '']],
  },
  {
    file: 'jobs/record/note.ts',
    tests: 'jobs/record',
    changes: [
      [
        'a process overwrites the end of a job',
        'if ((await readEnded(job.record.uid, context)) !== undefined) return;',
        '',
      ],
    ],
  },
  {
    file: 'jobs/stops.ts',
    tests: 'jobs/terminating jobs/following',
    changes: [
      ['the grace may be all of the time', ', time / 2));', '));'],
      [
        'Ctrl-C of attach goes on following',
        'if (leaves || !isCtrlC(first))',
        'if (!isCtrlC(first))',
      ],
    ],
  },
  {
    file: 'jobs/end/end-job.ts',
    tests: 'jobs/terminating jobs/unsure',
    changes: [
      ['a left job looks ended', 'terminated === true } = end', 'terminated !== false } = end'],
    ],
  },
  {
    file: 'jobs/verbs/finish.ts',
    tests: 'jobs/terminating jobs/leaving',
    changes: [['reap interrupts after the last pass', '<= grace + every', '<= grace']],
  },
  {
    file: 'jobs/verbs/stop.ts',
    tests: 'jobs/terminating',
    changes: [
      [
        'an ended job is ended again',
        'if ((await readJob(uid, context)).ended_at !== null) return;',
        '',
      ],
    ],
  },
];
