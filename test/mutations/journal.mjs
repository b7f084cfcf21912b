const JOURNAL = 'journal files/durable';

export const journal = [
  {
    file: 'journal/requests.ts',
    tests: `${JOURNAL} instances/pending`,
    changes: [
      [
        'two processes create one name',
        "openSync(path, 'wx', 0o600)",
        "openSync(path, 'w', 0o600)",
      ],
      ['others can read a request', "openSync(path, 'wx', 0o600)", "openSync(path, 'wx', 0o644)"],
      ['a request is not fsynced', 'fsyncSync(file);', '', { tests: JOURNAL }],
      [
        'the folder of a request is not fsynced',
        'checkArrived(path, text);\n    syncFolder(dirname(path));',
        'checkArrived(path, text);',
      ],
      ['a request that did not arrive counts as written', 'checkArrived(path, text);', ''],
      [
        'a request that failed to be written stays',
        'rmSync(path, { force: true });\n    throw',
        'throw',
      ],
      [
        'a request of a dead process is in flight',
        'age < timeout_ms + GRACE && isAlive(pid)',
        'age < timeout_ms + GRACE',
      ],
      [
        'a request stays in flight for ever',
        'age < timeout_ms + GRACE && isAlive(pid)',
        'isAlive(pid)',
      ],
      [
        'a request is in flight no longer than its timeout',
        'age < timeout_ms + GRACE',
        'age < timeout_ms',
      ],
      [
        'a clock set back keeps a request in flight',
        'Math.abs(clock.now() - Date.parse(asked_at))',
        'clock.now() - Date.parse(asked_at)',
      ],
      [
        'a torn request is not reported',
        'if (request?.isTorn === true && !request.isInFlight) spoil(path);',
        '',
      ],
      [
        'a half written request is torn',
        'isInFlight: uid === undefined && Math.abs(Date.now() - changed) < GRACE',
        'isInFlight: false',
      ],
      ['a request in flight is put aside', 'now.uid !== uid || now.isInFlight', 'now.uid !== uid'],
      ['another request is put aside', 'now.uid !== uid || now.isInFlight', 'now.isInFlight'],
      [
        'a request given up counts as in flight',
        'textOfRecord({ ...record, pid: null })',
        'textOfRecord(record)',
      ],
      [
        'the request of another process is removed',
        'return uid === request.uid ? main : aside;',
        'return main;',
      ],
      [
        'requests come newest first',
        'Date.parse(a.asked_at) - Date.parse(b.asked_at)',
        'Date.parse(b.asked_at) - Date.parse(a.asked_at)',
        { tests: `${JOURNAL} commands/instances/recover instances/pending` },
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
        'a request that nobody agreed to is put aside',
        'holder !== undefined && agreed.has(holder.uid)',
        'holder !== undefined',
      ],
      [
        'an instance that was made is not written',
        'await writing(() => madeBy(id, record, folder));',
        '',
      ],
      ['a request stays after its instance was made', 'removeSettled({ ...record, folder });', ''],
      ['the id of an older instance is believed', 'isOfAnother || isOlder', 'isOfAnother'],
      ['the id of another request is believed', 'isOfAnother || isOlder', 'isOlder'],
      [
        'the id of the terminated instance is believed',
        'record.source_id?.toLowerCase() === id.toLowerCase()',
        'false',
      ],
      [
        'an instance of another name is believed',
        'name !== undefined && !isSameName(name, record.name)',
        'false',
      ],
      [
        'the price limit is not written',
        '...(max_price === undefined ? {} : { max_price }),',
        '',
        { tests: `${JOURNAL} commands/instances/recover` },
      ],
      [
        'a forgotten request is deleted, not archived',
        'await archiveRequest(request);',
        'removeRequest(request.folder, request);',
      ],
    ],
  },
  {
    file: 'journal/store.ts',
    tests: JOURNAL,
    changes: [
      ['a request whose instance is known stays open', '!isInFlight && made.has(uid)', 'false'],
      [
        'a request in flight is settled by another',
        '!isInFlight && made.has(uid)',
        'made.has(uid)',
        {
          equivalent:
            'Its own process removes the file in the same moment; the ID is on disk already.',
        },
      ],
      [
        'what an earlier version kept is not moved',
        'if (!exists(join(state, OLD_FOLDER))) return;',
        'return;',
      ],
      [
        'a disk fault is no error of storage',
        'if (error instanceof CliError) throw error;\n      const words',
        'throw error;\n      const words',
      ],
    ],
  },
  {
    file: 'journal/known.ts',
    tests: JOURNAL,
    changes: [
      [
        'archived instances are read always',
        "archived ? ['instances', 'archive'] : ['instances']",
        "['instances', 'archive']",
      ],
      [
        'an untracked instance comes back when it is read',
        "origin === 'track' && record.untracked_at",
        'record.untracked_at',
      ],
      [
        'requests in flight count as unknown',
        'open.filter(({ isInFlight }) => !isInFlight)',
        'open',
      ],
      [
        'an instance that is tracked twice is written twice',
        'kept.record.untracked_at === undefined) return false;',
        'false) return false;',
      ],
      [
        'an observation is written each time',
        'kept.isTorn || !isOldNews(record.last, last)',
        'kept.isTorn || true',
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
        'a torn file is written over',
        'if (before?.isTorn === true) keepUnreadable(before.path);',
        '',
      ],
      [
        'a file of another id is believed',
        'record !== undefined && fileName(record.id) === name',
        'record !== undefined',
      ],
      [
        'a start forgets the price',
        'cut(price_per_hour) ?? last?.price_per_hour ?? null',
        'cut(price_per_hour) ?? null',
      ],
      [
        'an old observation is never refreshed',
        'Date.parse(after.seen_at) - Date.parse(before.seen_at) < FRESH',
        'true',
      ],
      [
        'an archived instance is not found by its id',
        "of ['instances', 'archive'] as const",
        "of ['instances'] as const",
      ],
      [
        'a torn file hides the instance in another folder',
        'if (!kept.isTorn) return kept;',
        'return kept;',
      ],
    ],
  },
  {
    file: 'journal/accounts.ts',
    tests: JOURNAL,
    changes: [
      [
        'an account sees the instances of others',
        'id === undefined ? foldersIn(own) : [fileName(id), UNCLAIMED]',
        'foldersIn(own)',
      ],
      ['unclaimed instances are not shown', '[fileName(id), UNCLAIMED]', '[fileName(id)]'],
      [
        'the account of a key is not kept',
        'await writeRecord(file, { version: 1, account: id });',
        '',
      ],
    ],
  },
  {
    file: 'journal/names.ts',
    tests: JOURNAL,
    changes: [
      ['names that differ in case share a file', '[^a-z0-9._-]', '[^a-zA-Z0-9._-]'],
      ['long names that begin alike share a file', '+${hashOf(text)}`', '`'],
      ['a name is a device on Windows', 'if (DEVICES.test(plain)) return', 'if (false) return'],
      ['http and https share a folder', "scheme === 'http' ? 'http@' : ''", "''"],
    ],
  },
  {
    file: 'journal/body.ts',
    tests: JOURNAL,
    changes: [
      [
        'the environment of a container is kept',
        "(isVariable && 'key' in (this as object)) ||",
        '',
      ],
      ['the command of a container is kept', "name === 'run_command' ||", ''],
      ['an API key in a body is kept', " ||\n        value.includes('svc_sk_')", ''],
    ],
  },
  {
    file: 'journal/answer-id.ts',
    tests: 'journal/answer-id',
    changes: [
      ['the id of an offer is taken for the instance', '[^{}[\\]]*?"id"', '[^]*?"id"'],
      ['an id that is none is taken', '!resourceId(id).ok', 'false'],
    ],
  },
  {
    file: 'journal/files.ts',
    tests: JOURNAL,
    changes: [
      [
        'a removed file comes back after a power cut',
        'rmSync(path, { force: true });\n  syncFolder(dirname(path));',
        'rmSync(path, { force: true });',
      ],
      [
        'a file that can not be read is skipped',
        'if (text !== undefined || exists(path)) found',
        'if (text !== undefined) found',
      ],
    ],
  },
  {
    file: 'journal/pending.ts',
    tests: `${JOURNAL} instances/pending commands/instances/recover`,
    changes: [
      [
        "an earlier version's open requests are not reported",
        'if (exists(join(state, OLD_FOLDER))) return true;',
        '',
      ],
    ],
  },
  {
    file: 'files/replace.ts',
    tests: 'files/durable files/plain config/config',
    changes: [
      ['a replaced file is not fsynced', 'fsyncSync(file);', ''],
      ['a replaced file is not read back', 'checkArrived(temporary, content);', ''],
      ['a temporary file stays', 'rmSync(temporary, { force: true });', ''],
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
];
