const RETRIES = 'api/retries api/errors api/answers';

export const api = [
  {
    file: 'api/calls/retry.ts',
    tests: RETRIES,
    changes: [
      ['a GET answered 408 is not repeated', 'new Set([408, 429,', 'new Set([429,'],
      ['a GET answered 504 is not repeated', '503, 504])', '503])'],
      ['a GET is sent a fourth time', 'const TRIES = 3', 'const TRIES = 4'],
      [
        'a 429 counts as a try that may have acted',
        'doubted ||= response.status !== 429',
        'doubted = true',
      ],
      ['a try that failed halfway is forgotten', 'doubted ||= error.sent;', ''],
      [
        'a repeated call that was stopped goes on',
        'if (error.stopped || tried === TRIES) throw error.asSent',
        'if (tried === TRIES) throw error.asSent',
        { equivalent: 'The pause before the next try ends at once, with the same fault.' },
      ],
      [
        'a POST that may have left is sent again',
        'if (error.sent || error.stopped || tried',
        'if (error.stopped || tried',
      ],
      [
        'a POST stopped before it left is sent again',
        'if (error.sent || error.stopped || tried',
        'if (error.sent || tried',
        { equivalent: 'The pause before the next try ends at once, with the same fault.' },
      ],
      [
        'a Retry-After past the deadline is kept',
        'if (retryAfter > Math.min(call.remainingMs(), call.longestPauseMs))',
        'if (retryAfter > call.longestPauseMs)',
      ],
      [
        'a long Retry-After is not left to the caller',
        'Math.min(call.remainingMs(), call.longestPauseMs)',
        'call.remainingMs()',
        { tests: `${RETRIES} commands/instances/lifecycle watch/wait` },
      ],
      ['the first pause is twice as long', '2 ** (tried - 1)', '2 ** tried'],
      [
        'a Retry-After is read as milliseconds',
        'return Number(text) * 1000',
        'return Number(text)',
      ],
      ['a Retry-After in the past is negative', 'Math.max(0, at - now)', 'at - now'],
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
        'a PATCH answered 408 is refused, not unknown',
        'status === 408 || status >= 500;',
        'status >= 500;',
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
      [
        'a PATCH that never left has an unknown outcome',
        '|| !error.sent) throw notReached',
        ') throw notReached',
      ],
      [
        'odd fields are not warned of',
        'warnOfOdd(operation, call, result.odd);',
        '',
        { tests: 'api/answers' },
      ],
      [
        'odd fields of a POST are not warned of',
        'if (data.ok) warnOfOdd(operation, call, data.odd);',
        '',
        { tests: 'api/answers' },
      ],
    ],
  },
  {
    file: 'api/calls/errors.ts',
    tests: RETRIES,
    changes: [
      ['a POST answered 408 counts as refused', ' && status !== 408;\n}', ';\n}'],
      [
        'a status 300 counts as success',
        'status >= 200 && status < 300;',
        'status >= 200 && status <= 300;',
      ],
      [
        'a web page with 408 counts as refused',
        'status >= 500 || status === 408;',
        'status >= 500;',
      ],
      ['a 403 is no fault of the key', "403: 'authentication',", ''],
      ['a 409 is not about the state', 'status === 409 || (', '('],
      ['every 400 is about the state', ' && operation.needsState === true)', ')'],
      [
        'a lost rental is not billing',
        'operation.bills ?? false,\n      retryable',
        'false,\n      retryable',
        { tests: `${RETRIES} api/operations` },
      ],
      [
        'a request that was not reached can not be retried',
        'retryable: true,\n    hint: fault.hint',
        'retryable: false,\n    hint: fault.hint',
      ],
      [
        'an interrupt is a service that was not reached',
        'if (fault.stopped && interruption !== undefined) return interruption.reason;',
        '',
        { tests: `${RETRIES} api/interrupts` },
      ],
      [
        'an error forgets the resource',
        '...request, about: resource }, resource }',
        '...request, about: resource } }',
      ],
      [
        'an error shows the whole redirect',
        'new URL(location).host',
        'new URL(location).href',
        { tests: `${RETRIES} api/answers` },
      ],
    ],
  },
  {
    file: 'api/calls/settle.ts',
    tests: 'api/retries api/operations api/interrupts',
    changes: [
      [
        'a stop is sent again although the state is there',
        'if (there !== undefined) return there;',
        '',
      ],
      [
        'a stop is sent again although the state can not be read',
        'if (before === undefined) throw',
        'if (before === undefined && false) throw',
      ],
      [
        'the second refusal hides that the first stop worked',
        'if (late !== undefined) return late;',
        '',
      ],
      [
        'a second doubt counts as refused',
        'if (status < 500) return outcomeUnknown',
        'if (status < 400) return outcomeUnknown',
      ],
      [
        'a failure told twice is not billing',
        'mayBeBilling: operation.bills ?? false,',
        'mayBeBilling: false,',
      ],
      ['a pause that is too long is ignored', 'if (tooLong !== undefined) throw tooLong;', ''],
    ],
  },
  {
    file: 'api/calls/call.ts',
    tests: `${RETRIES} api/interrupts api/requests api/trace`,
    changes: [
      [
        'a call has no longer the shorter deadline',
        'Math.min(settings.timeoutMs, options.timeoutMs ?? settings.timeoutMs)',
        'settings.timeoutMs',
        { tests: 'api/traps' },
      ],
      [
        'a call that is stopped sends once more',
        'async exchange(request) {\n      goOn();',
        'async exchange(request) {',
        {
          equivalent:
            'The exchange refuses a signal that was aborted; only --debug shows one request more.',
        },
      ],
      [
        'an id in a broken response is not offered',
        'await options.onResponse?.(error.partial);',
        '',
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
      [
        'the headers of a raw call replace the key',
        "...request.headers,\n      'x-api-key': settings.apiKey,",
        "'x-api-key': settings.apiKey,\n      ...request.headers,",
        { equivalent: 'A raw call refuses x-api-key before it gets here, in any case of letters.' },
      ],
    ],
  },
  {
    file: 'api/calls/operation.ts',
    tests: 'api/retries api/requests api/operations api/raw',
    changes: [
      ['a raw PUT is repeated', '(GET|HEAD|PATCH|DELETE) ', '(GET|HEAD|PATCH|PUT|DELETE) '],
      ['a PATCH can not be repeated', '(GET|HEAD|PATCH|DELETE) ', '(GET|HEAD|DELETE) '],
      ['a GET changes something', '!/^(GET|HEAD) /', '!/^(HEAD) /'],
      [
        'an id may alter the path',
        'if (!verdict.ok) throw usageError(`This is not',
        'if (false) throw usageError(`This is not',
      ],
    ],
  },
  {
    file: 'api/instances.ts',
    tests: 'api/operations api/retries',
    changes: [
      [
        'a lost create is not billing',
        'resource: body.instance_name,\n            bills: true,',
        'resource: body.instance_name,',
      ],
      [
        'a lost reorder is not billing',
        'bills: true,\n            doubt: CREATED_DOUBT,\n            needsState',
        'doubt: CREATED_DOUBT,\n            needsState',
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
        { tests: 'api/answers' },
      ],
      ['a terminate looks for STOPPED', "goal: 'TERMINATED',", "goal: 'STOPPED',"],
    ],
  },
  {
    file: 'api/drives.ts',
    tests: 'api/operations api/retries api/requests',
    changes: [
      ['a drive that is still SUSPENDED is resumed', " && state.status !== 'SUSPENDED'", ''],
      ['a resume without a status is success', "typeof state.status === 'string' && ", ''],
      ['a resume has no body', "body: '{}',", ''],
      [
        'a lost resume is not billing',
        "bills: true,\n    doubt: 'The drive may be in use",
        "doubt: 'The drive may be in use",
      ],
      [
        'a lost drive is not billing',
        "bills: true,\n            doubt: 'A drive",
        "doubt: 'A drive",
      ],
    ],
  },
  {
    file: 'api/ssh-keys.ts',
    tests: 'api/retries api/operations',
    changes: [['a key with another comment is another key', '.slice(0, 2)', '']],
  },
  {
    file: 'api/pages.ts',
    tests: 'api/pages',
    changes: [
      ['a page too many is read', 'number >= meta.total_pages', 'number > meta.total_pages'],
      ['a full page is the last one', 'data.length < meta.limit', 'data.length <= meta.limit'],
      ['an empty page is not the last one', 'if (data.length === 0) return true;', ''],
      ['pages are read side by side', 'if (ahead && !isLast)', 'if (!isLast)'],
    ],
  },
  {
    file: 'api/raw.ts',
    tests: 'api/raw api/retries',
    changes: [
      ['a raw path leaves the base URL', ' || parsed !== whole', ''],
      ['a raw call sets its own key', '(x-api-key|host', '(host'],
      ['a lost raw POST is not billing', "bills: request.method === 'POST',", ''],
      ['a raw header holds a line break', '!/^[\\x20-\\x7e]*$/.test(value)', 'false'],
    ],
  },
  {
    file: 'api/response/envelope.ts',
    tests: 'api/answers api/pages api/errors api/depth',
    changes: [
      [
        'a response without data is a success',
        "if (!Object.hasOwn(body, 'data')) return",
        "if (!('data' in body) && false) return",
        { equivalent: 'Every schema refuses a value that is missing, in the same words.' },
      ],
      [
        'a full page without totals is the last one',
        'length === limit ? 1',
        'length === limit ? 0',
      ],
      [
        'an empty page without totals has a successor',
        'length === 0 ? -1 : 0',
        'length === 0 ? 1 : 0',
      ],
      [
        'a response that is nested too deep is read',
        'if (isTooDeep(json)) return',
        'if (false) return',
        { tests: 'commands/instances/deep-answer' },
      ],
      [
        'a cut response is read',
        'if (response.problem !== undefined) return',
        'if (false) return',
        { tests: 'api/answers api/traps api/errors' },
      ],
    ],
  },
  {
    file: 'api/response/secrets.ts',
    tests: 'api/secrets api/trace',
    changes: [
      ['a short secret is replaced first', 'b.length - a.length', 'a.length - b.length'],
      ['a new password is shown by --debug', "'new_password',", ''],
      ['metadata is shown by --debug', "'metadata',", ''],
      ['a secret in a link is shown', ', encodeURIComponent(secret.toWellFormed())', ''],
      [
        'a key of the service is shown',
        'return clean.replace(/svc_sk_[A-Za-z0-9_-]+/g, `svc_sk_${MASK}`);',
        'return clean;',
      ],
      [
        'values of the environment are shown',
        "new Set(['env', 'env_vars'])",
        "new Set(['env_vars'])",
      ],
    ],
  },
  {
    file: 'api/response/exact.ts',
    tests: 'api/exact',
    changes: [
      ['digits of a long number are lost', '){15}|', '){16}|'],
      [
        'an infinite number is exact',
        'Number.isFinite(held) && ',
        '',
        { equivalent: 'The decimals of such a number differ, too.' },
      ],
    ],
  },
  {
    file: 'api/response/message.ts',
    tests: 'api/errors api/documented-errors api/answers',
    changes: [
      [
        'a secret cut in half stays in a message',
        'shortened(hide(oneLine(hide(words))).trim(), most)',
        'hide(shortened(oneLine(words), most))',
      ],
      [
        'messages of a list are dropped',
        'if (texts.length > 0) return',
        'if (texts.length > 9) return',
      ],
    ],
  },
  {
    file: 'api/http/proxy.ts',
    tests: 'api/proxies',
    changes: [
      ['NO_PROXY with /32 is refused', 'Number(bits) > most', 'Number(bits) >= most'],
      ['HTTP_PROXY in capital letters is used', "['http_proxy'];", "['http_proxy', 'HTTP_PROXY'];"],
      ['NO_PROXY exempts hosts that end alike', 'host.endsWith(`.${name}`)', 'host.endsWith(name)'],
      ['NO_PROXY with a port exempts every port', 'return samePort && name', 'return name'],
      ['a proxy gets no password', "user === ':'", 'true'],
      ['a proxy of https stands at port 80', '? 443 : 1080', '? 80 : 1080'],
    ],
  },
  {
    file: 'api/http/exchange.ts',
    tests: 'api/traps api/interrupts api/retries',
    changes: [
      [
        'a request is sent a second time',
        'if (this.#stopped || this.#sent) {',
        'if (this.#stopped) {',
        { equivalent: 'undici 7 starts no request twice; only a later version could.' },
      ],
      ['a stopped request leaves', 'if (this.#stopped || this.#sent) {', 'if (this.#sent) {'],
      ['what was sent counts as not sent', 'this.#sent = true;', ''],
      [
        'a response of any size is kept',
        'this.#size <= MOST_BYTES) return;',
        'this.#size <= 64 * MOST_BYTES) return;',
      ],
      ['an interim response is the response', 'if (status >= 200) this.#head', 'this.#head'],
    ],
  },
  {
    file: 'api/http/transport.ts',
    tests: 'api/traps api/retries api/proxies api/many',
    changes: [
      [
        'a POST goes over a kept connection',
        "request.method !== 'POST' && request.method !== 'PUT'",
        "request.method !== 'PUT'",
      ],
      [
        'a proxy of plain http gets the path alone',
        'path: `${target.origin}${request.path}`',
        'path: request.path',
      ],
    ],
  },
  {
    file: 'api/schemas/check.ts',
    tests: 'api/answers openapi/fields',
    changes: [
      [
        'a number in place of a text is dropped',
        "(typeof is === 'number' || typeof is === 'boolean')",
        "typeof is === 'boolean'",
      ],
      [
        'a list with a broken row shows the others',
        'Array.isArray(value) ? 1 : 0',
        '0',
        { equivalent: 'A row that became null is refused as well, in the same words.' },
      ],
    ],
  },
];
