const JOURNAL = 'journal system/durable';

export const journal = [
  {
    file: 'journal/requests.ts',
    tests: `${JOURNAL} instances/pending`,
    changes: [
      [
        'two processes create one name',
        "errorCode(error) === 'EEXIST' ? false",
        "errorCode(error) === 'EEXIST' ? true",
      ],
      [
        'two processes create one name without hard links',
        "openSync(path, 'wx', 0o600)",
        "openSync(path, 'w', 0o600)",
      ],
      [
        'a request is not fsynced',
        'await replaceFile(whole, text);',
        'writeFileSync(whole, text);',
        { tests: JOURNAL },
      ],
      ['the folder of a request is not fsynced', 'if (isOurs) syncFolder(dirname(path));', ''],
      [
        'a request of a dead process is in flight',
        'age < timeout_ms + GRACE && isAlive(pid)',
        'age < timeout_ms + GRACE',
      ],
      ['an unreadable request is not reported', 'if (request === undefined) spoil(path);', ''],
      [
        'a request given up counts as in flight',
        'textOfRecord({ ...record, pid: null })',
        'textOfRecord(record)',
      ],
    ],
  },
  {
    file: 'journal/sending.ts',
    tests: `${JOURNAL} commands/instances/doubt commands/instances/create`,
    changes: [
      [
        'a request is sent without being on disk',
        '(await createRequest(folder, record)) ? opened(record, folder) : undefined',
        'opened(record, folder)',
      ],
      ['a request that was agreed to is not put aside', 'agreed.has(holder.uid)', 'false'],
      [
        'an instance that was made is not written',
        'await writing(() => madeBy(id, record, folder));',
        '',
      ],
      ['a request stays after its instance was made', 'removeSettled({ ...record, folder });', ''],
      ['the id of another request is believed', 'isOfAnother || isOlder', 'isOlder'],
      ['the id of the terminated instance is believed', 'record.source_id === id', 'false'],
      [
        'an instance of another name is believed',
        'name !== undefined && !isSameName(name, record.name)',
        'false',
      ],
      [
        'the price limit is not written',
        '{ body, ...request }: RentalRequest',
        '{ body, max_price: _limit, ...request }: RentalRequest',
        { tests: `${JOURNAL} commands/instances/recover` },
      ],
      [
        'a guard counts before the request is on disk',
        'const made = await open(request, agreed, folder);\n          try {\n            if (made !== undefined) await check(made.uid);',
        "await check('');\n          const made = await open(request, agreed, folder);\n          try {",
        { tests: 'instances/guards' },
      ],
      [
        'a request that a guard refuses stays',
        'await made?.notMade();',
        '',
        { tests: 'instances/guards' },
      ],
      ['an instance settles a request of another', 'if (owner !== uid) {', 'if (false) {'],
      [
        'a refused deadline is handed on after a kill',
        'if (ends !== undefined) await decideDeadline(request.folder, id, request, ends);',
        '',
      ],
      [
        'a forgotten request is deleted, not archived',
        'await archiveRequest(request);',
        'removeRequest(request.folder, request);',
      ],
    ],
  },
  {
    file: 'journal/instances.ts',
    tests: JOURNAL,
    changes: [
      [
        'an instance that is over stays among the living',
        "isOver ? 'archive' : 'instances'",
        "'instances'",
      ],
      [
        'an unreadable file is written over',
        'if (before === undefined) keepIfUnreadable(path);',
        '',
      ],
    ],
  },
  {
    file: 'journal/store.ts',
    tests: JOURNAL,
    changes: [
      [
        'an account sees the instances of others',
        'if (folder !== undefined) return exists(folder) ? [folder] : [];',
        '',
      ],
    ],
  },
  {
    file: 'journal/files.ts',
    tests: JOURNAL,
    changes: [['names that differ in case share a file', '[^a-z0-9._-]', '[^a-zA-Z0-9._-]']],
  },
  {
    file: 'journal/record.ts',
    tests: JOURNAL,
    changes: [
      ['a secret is kept', 'masked(value)', 'value'],
      ['an API key is kept', "text.includes('svc_sk_')", 'false'],
      [
        'a record of a newer gpucloud is read',
        'isAbove(VERSION, found) || isAbove(LAST_VERSION, last)',
        'false',
      ],
    ],
  },
  {
    file: 'journal/response-id.ts',
    tests: 'journal/response-id',
    changes: [['the id of an offer is taken for the instance', '[^{}[\\]]*?"id"', '[^]*?"id"']],
  },
  {
    file: 'system/files.ts',
    tests: 'system/durable system/plain config/config',
    changes: [
      ['a replaced file is not fsynced', 'fsyncSync(file);', ''],
      [
        'the folder of a replaced file is not fsynced',
        'throw error;\n  }\n  syncFolder(dirname(path));',
        'throw error;\n  }',
      ],
      [
        'others can read a replaced file',
        "openSync(temporary, 'wx', 0o600)",
        "openSync(temporary, 'wx', 0o644)",
      ],
    ],
  },
  {
    file: 'system/files.ts',
    tests: 'system/durable',
    changes: [
      ['a file that a scanner holds is lost on Windows', "platform() !== 'win32' || ", 'true || '],
    ],
  },
];
