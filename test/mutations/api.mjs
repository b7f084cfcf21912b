const RETRIES = 'api/retries api/errors api/responses';

export const api = [
  {
    file: 'api/calls/retry.ts',
    tests: RETRIES,
    changes: [
      ['a GET answered 408 is not repeated', 'new Set([408, 429,', 'new Set([429,'],
      [
        'a 429 counts as a try that may have acted',
        'doubted ||= response.status !== 429',
        'doubted = true',
      ],
      ['a try that failed halfway is forgotten', 'doubted ||= error.sent;', ''],
      [
        'a POST that may have left is sent again',
        'if (error.sent || error.stopped || tried',
        'if (error.stopped || tried',
      ],
      [
        'a Retry-After past the deadline is kept',
        'Math.min(call.remainingMs(), call.longestPauseMs)',
        'call.longestPauseMs',
      ],
      [
        'a pause that is stopped forgets that a try was sent',
        'error instanceof Fault ? error.asSent(sent) : error',
        'error',
        { tests: 'api/interrupts' },
      ],
    ],
  },
  {
    file: 'api/calls/perform.ts',
    tests: RETRIES,
    changes: [
      [
        'a 404 of a first DELETE is success',
        'response.status === 404 && doubted',
        'response.status === 404',
        { tests: `${RETRIES} commands/ssh-keys` },
      ],
      ['a 404 after a doubtful DELETE is an error', 'response.status === 404 && doubted', 'false'],
      [
        'a DELETE answered 500 is refused, not unknown',
        'status === 408 || status >= 500;',
        'status === 408 || status > 500;',
      ],
      [
        'a POST answered 500 counts as refused',
        'if (isSureRefusal(response.status)) throw',
        'if (!isSuccess(response.status)) throw',
      ],
      [
        'a lost POST counts as not reached',
        'if (!error.sent) throw notReached(operation, call, error);\n    return',
        'if (true) throw notReached(operation, call, error);\n    return',
      ],
      [
        'a lost PATCH counts as not reached',
        'if (!changes(operation) || !error.sent) throw',
        'if (error !== undefined) throw',
      ],
    ],
  },
  {
    file: 'api/calls/errors.ts',
    tests: RETRIES,
    changes: [
      ['a POST answered 408 counts as refused', ' && status !== 408;\n}', ';\n}'],
      [
        'a web page with 408 counts as refused',
        'status >= 500 || status === 408;',
        'status >= 500;',
      ],
      [
        'a lost rental is not billing',
        'operation.bills ?? false,\n      retryable',
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
    file: 'api/calls/settle.ts',
    tests: 'api/retries api/operations api/interrupts',
    changes: [
      [
        'a stop is sent again although the state can not be read',
        'if (before === undefined) throw',
        'if (before === undefined && false) throw',
      ],
      [
        'a failure told twice is not billing',
        'mayBeBilling: operation.bills ?? false,',
        'mayBeBilling: false,',
      ],
    ],
  },
  {
    file: 'api/calls/call.ts',
    tests: `${RETRIES} api/interrupts api/requests api/trace`,
    changes: [
      [
        'an id in a broken response is not offered',
        'await options.onResponse?.(error.partial);',
        '',
        { tests: 'api/traps' },
      ],
      [
        'an id is not on disk before the response is used',
        'await options.onResponse?.(response);',
        'options.onResponse?.(response);',
        { tests: 'api/interrupts' },
      ],
      [
        'the secrets of a request are not hidden',
        'for (const secret of secretsIn(request.body)) secrets.add(secret);',
        '',
      ],
    ],
  },
  {
    file: 'api/calls/operation.ts',
    tests: 'api/retries api/requests api/operations api/raw',
    changes: [
      ['a raw PUT is repeated', '(GET|HEAD|PATCH|DELETE) ', '(GET|HEAD|PATCH|PUT|DELETE) '],
      ['an id may alter the path', '!verdict.ok', 'false'],
    ],
  },
  {
    file: 'api/instances.ts',
    tests: 'api/operations api/retries',
    changes: [
      ['a lost create is not billing', 'instance_name,\n            bills: true', 'instance_name'],
      [
        'a lost reorder is not billing',
        'bills: true,\n            doubt: CREATED_DOUBT,\n            ',
        'doubt: CREATED_DOUBT,\n            ',
      ],
      [
        'a start after a doubt is success when still STOPPED',
        "status === 'STARTING' || status === 'ACTIVE'",
        "status !== 'ERROR'",
      ],
      [
        'a start that failed is not billing',
        "mayBeBilling: status !== 'STOPPED'",
        'mayBeBilling: false',
      ],
      [
        'a response about another instance is taken',
        'found.id.toLowerCase() !== id.toLowerCase()',
        'false',
        { tests: 'api/responses' },
      ],
    ],
  },
  {
    file: 'api/drives.ts',
    tests: 'api/operations api/retries api/requests',
    changes: [
      ['a drive that is still SUSPENDED is resumed', " && state.status !== 'SUSPENDED'", ''],
      ['a lost resume is not billing', 'bills: true,\n    doubt', 'doubt'],
      [
        'a lost drive is not billing',
        "bills: true,\n            doubt: 'A drive",
        "doubt: 'A drive",
      ],
    ],
  },
  {
    file: 'api/raw.ts',
    tests: 'api/raw api/retries',
    changes: [
      ['a raw path leaves the base URL', ' || parsed !== whole', ''],
      ['a raw call sets its own key', '(x-api-key|host', '(host'],
      ['a lost raw POST is not billing', "bills: request.method === 'POST',", ''],
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
    file: 'api/response/secrets.ts',
    tests: 'api/secrets api/trace',
    changes: [
      ['a short secret is replaced first', 'b.length - a.length', 'a.length - b.length'],
      ['a secret in a link is shown', ', encodeURIComponent(secret.toWellFormed())', ''],
      ['a key of the service is shown', '.replace(/svc_sk_[A-Za-z0-9_-]+/g, `svc_sk_${MASK}`)', ''],
    ],
  },
  {
    file: 'api/response/message.ts',
    tests: 'api/errors api/documented-errors api/responses',
    changes: [
      [
        'a secret cut in half stays in a message',
        'shortened(hide(oneLine(hide(words))).trim(), most)',
        'hide(shortened(oneLine(words), most))',
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
