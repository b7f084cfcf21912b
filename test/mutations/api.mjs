const RETRIES = 'api/retries api/errors api/responses';

export const api = [
  {
    file: 'api/pages.ts',
    tests: 'api/pages commands/billing/transactions',
    changes: [
      ['a row on two pages counts twice', 'if (seen.has(id) || older.has(id)) return false;', ''],
      [
        'a service that does not page is read for ever',
        'if (repeated === STUCK) throw stuck(what, number);',
        '',
        { tests: 'commands/billing/transactions' },
      ],
      ['a list with missing rows is whole', 'given < expected', 'false'],
      ['a list that became shorter is whole', 'if (isShorter) throw shorter(what);', ''],
    ],
  },
  {
    file: 'api/retry.ts',
    tests: RETRIES,
    changes: [
      ['a GET answered 408 is not repeated', 'new Set([408, 429,', 'new Set([429,'],
      [
        'a 429 counts as a try that may have acted',
        'doubted ||= response.status !== 429',
        'doubted = true',
      ],
      ['a try that failed halfway is forgotten', 'doubted ||= sent;', ''],
      ['a POST that may have left is sent again', ' || (sent && !isRepeated)', ''],
      [
        'a Retry-After past the deadline is kept',
        'Math.min(call.remainingMs(), call.longestPauseMs)',
        'call.longestPauseMs',
      ],
      [
        'a pause that is stopped forgets that a try was sent',
        'error instanceof Fault ? error.asSent(doubted) : error',
        'error',
        { tests: 'api/interrupts' },
      ],
    ],
  },
  {
    file: 'api/send.ts',
    tests: RETRIES,
    changes: [
      [
        'a 404 of a first DELETE is success',
        'isDeleted(request, sent)',
        "request.method === 'DELETE' && status === 404",
        { tests: `${RETRIES} commands/ssh-keys` },
      ],
      ['a 404 after a doubtful DELETE is an error', 'isDeleted(request, sent)', 'false'],
      ['a DELETE answered 500 is refused, not unknown', '!isFailed(status) || !changes', 'changes'],
      [
        'a POST answered 500 counts as refused',
        ': isSureRefusal(status);',
        ': !isSuccess(status);',
      ],
      [
        'a lost POST or PATCH counts as not reached',
        'return changes(request) && error.sent',
        'return false',
      ],
      [
        'a response about another instance is taken',
        'isSameId(found, id)',
        'true',
        { tests: 'api/responses' },
      ],
    ],
  },
  {
    file: 'api/errors.ts',
    tests: RETRIES,
    changes: [
      ['a POST answered 408 counts as refused', ' && status !== 408;\n}', ';\n}'],
      ['a page with 408 is not retryable', 'status >= 500 || status === 408;', 'status >= 500;'],
      [
        'a lost rental is not billing',
        'request.bills ?? false,\n      retryable',
        'false,\n      retryable',
        { tests: `${RETRIES} api/operations` },
      ],
      [
        'an interrupt is a service that was not reached',
        'if (fault.stopped && interruption !== undefined) return interruption.reason;',
        '',
        { tests: `${RETRIES} api/interrupts` },
      ],
    ],
  },
  {
    file: 'api/call.ts',
    tests: `${RETRIES} api/interrupts api/requests api/trace`,
    changes: [
      [
        'an id in a broken response is not offered',
        'await onResponse?.(error.partial);',
        '',
        { tests: 'api/traps' },
      ],
      [
        'an id is not on disk before the response is used',
        'await onResponse?.(response);',
        'onResponse?.(response);',
        { tests: 'api/interrupts' },
      ],
      [
        'the secrets of a request are not hidden',
        'for (const secret of secretsIn(request.body)) this.#secrets.add(secret);',
        '',
      ],
    ],
  },
  {
    file: 'api/request.ts',
    tests: 'api/requests api/operations',
    changes: [
      ['an id may alter the path', 'verdict?.ok === false', 'false'],
      [
        'a stop in doubt is not safe to repeat',
        ' || operation.isRepeatable === true',
        '',
        { tests: 'api/retries' },
      ],
    ],
  },
  {
    file: 'api/operations.ts',
    tests: 'api/operations api/retries api/requests',
    changes: [
      [
        'a lost rental is not billing',
        "bills: true,\n  doubt: 'An instance may",
        "doubt: 'An instance may",
      ],
      [
        'a lost resume is not billing',
        "bills: true,\n    doubt: 'The drive may",
        "doubt: 'The drive may",
      ],
      ['a lost drive is not billing', "bills: true,\n    doubt: 'A drive", "doubt: 'A drive"],
    ],
  },
  {
    file: 'api/raw.ts',
    tests: 'api/raw api/retries',
    changes: [
      [
        'a raw PUT is repeated',
        "['GET', 'HEAD', 'PATCH', 'DELETE']",
        "['GET', 'HEAD', 'PATCH', 'DELETE', 'PUT']",
      ],
      ['a raw path leaves the base URL', ' || parsed !== whole', ''],
      ['a raw call sets its own key', '(x-api-key|host', '(host'],
      ['a lost raw POST is not billing', "bills: method === 'POST',", ''],
    ],
  },
  {
    file: 'api/response/envelope.ts',
    tests: 'api/responses api/pages api/errors api/depth',
    changes: [
      [
        'a cut response is read',
        'if (response.problem !== undefined) return',
        'if (false) return',
        { tests: 'api/responses api/traps api/errors' },
      ],
    ],
  },
  {
    file: 'rules/secrets.ts',
    tests: 'rules/secrets api/trace api/errors output/mask output/formats',
    changes: [
      ['a secret of five characters is looked for', 'SHORTEST_SECRET = 6', 'SHORTEST_SECRET = 5'],
      [
        'a private key is shown',
        ".replace(/-----BEGIN[\\s\\S]*/, '-----BEGIN …')",
        '',
        { tests: 'output run' },
      ],
      ['a short secret is replaced first', 'b.length - a.length', 'a.length - b.length'],
      ['a secret in a link is shown', ', encodeURIComponent(secret.toWellFormed())', ''],
      ['a key of the service is shown', ".replace(/svc_sk_[A-Za-z0-9_-]+/g, 'svc_sk_…')", ''],
    ],
  },
  {
    file: 'api/response/message.ts',
    tests: 'api/errors api/documented-errors api/responses',
    changes: [
      [
        'a secret cut in half stays in a message',
        'shortened(withoutKeys(hide(oneLine(hide(words)))).trim(), most)',
        'withoutKeys(hide(shortened(oneLine(words), most)))',
      ],
    ],
  },
  {
    file: 'api/http/proxy.ts',
    tests: 'api/proxies',
    changes: [['NO_PROXY with /32 is refused', 'Number(bits) > most', 'Number(bits) >= most']],
  },
  {
    file: 'api/http/exchange.ts',
    tests: 'api/traps api/interrupts api/retries',
    changes: [['what was sent counts as not sent', 'this.#sent = true;', '']],
  },
  {
    file: 'api/http/transport.ts',
    tests: 'api/traps api/retries api/proxies api/many',
    changes: [['a POST goes over a kept connection', "POST' && request.method !== '", '']],
  },
];
