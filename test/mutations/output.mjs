export const output = [
  {
    file: 'output/mask.ts',
    tests: 'output/mask output/formats',
    changes: [
      ['a short secret is looked for first', 'b.length - a.length', 'a.length - b.length'],
      [
        'a secret of six characters is not looked for',
        'secret.length >= SHORTEST_SOUGHT',
        'secret.length > SHORTEST_SOUGHT',
      ],
      ['a secret of five characters is looked for', 'SHORTEST_SOUGHT = 6', 'SHORTEST_SOUGHT = 5'],
      [
        'a secret in a link is shown',
        'inLink === secret ? [secret] : [secret, inLink]',
        '[secret]',
      ],
      ['plain words of metadata are looked for', '/^[a-z]+$/i.test(secret)', 'false'],
      ['a failure reason shows a secret', "'failure_reason',", ''],
      ['a command shows a secret', "'run_command',", ''],
      ['a way in shows a secret', "const WAY_IN = 'connection_info'", "const WAY_IN = 'way_in'"],
      [
        'a host is masked',
        'return host + replaced(text.slice(host.length), sought);',
        'return replaced(text, sought);',
      ],
      [
        'a link with a password is shown',
        "if (host !== undefined && !host.includes('@')) {",
        'if (host !== undefined) {',
      ],
      ['a password in a name is shown', 'passwords.size === 0 ? masked : ', 'true ? masked : '],
      [
        'an empty secret is masked',
        "value === undefined || value === '') return value;",
        'value === undefined) return value;',
      ],
      [
        'a secret in an odd structure is shown',
        'value === undefined ? undefined : maskLeaves(value, secrets)',
        'value',
      ],
      [
        'a list in place of an object is shown',
        "const next = step === '[]' ? rest : path;",
        'const next = rest;',
      ],
    ],
  },
  {
    file: 'output/sanitise.ts',
    tests: 'output/sanitise output/formats',
    changes: [
      ['a bidi control is data', "(found === '\\n' || found === '\\t' ? found : '')", 'found'],
      ['a return alone is data', '/\\r\\n?|[\\u2028\\u2029]/g', '/\\r\\n|[\\u2028\\u2029]/g'],
      [
        'JSON holds raw controls',
        'if (!SUSPECT_IN_LINES.test(whole)) return whole;',
        'return whole;',
      ],
      ['JSON holds half a character', '? withoutHalves(json) : json', '? json : json'],
    ],
  },
  {
    file: 'output/sink.ts',
    tests: 'output/sink',
    changes: [
      [
        'a full disk is a reader who has gone',
        '} else if (!READER_GONE.has',
        '} else if (false && !READER_GONE.has',
      ],
      ['a closed pipe is a full disk', "'EPIPE',\n", ''],
      ['what was not taken at once is lost', 'if (rest.length > 0) await opened()(rest);', ''],
      [
        'what was taken at once is written again',
        'bytes.subarray(plain(bytes))',
        '(plain(bytes), bytes)',
      ],
      [
        'a failed write is told once',
        'if (failure !== undefined) throw failure;',
        'const now = failure;\n      failure = undefined;\n      if (now !== undefined) throw now;',
      ],
      ['a short write to a file is whole', 'at < bytes.length; ) at +=', 'at < 1; ) at +='],
      [
        'a write is not waited for',
        'if (error) reject(error);\n        else resolve();\n      });',
        'if (error) reject(error);\n      });\n      resolve();',
      ],
      [
        'a reader who takes nothing is waited for',
        'whenStopped(stop, () => reject(stop?.reason))',
        '() => undefined',
      ],
    ],
  },
  {
    file: 'output/rows.ts',
    tests: 'output/sink output/formats commands/instances/follow',
    changes: [
      ['rows go on when the reader has gone', 'if (sink.ended) return;', ''],
      [
        'a source that is left is not stopped',
        'Promise.resolve(source.return?.()).catch(() => undefined)',
        'Promise.resolve()',
      ],
      [
        'a row is not waited for',
        'if (wait !== undefined) await wait;\n    }\n  } catch',
        '}\n  } catch',
      ],
      [
        'a value is remembered too long',
        'if (given === value && !isFirst) return result as R;',
        'if (!isFirst) return result as R;',
      ],
    ],
  },
  {
    file: 'output/formats/batch.ts',
    tests: 'output/formats output/quick-rows output/sink',
    changes: [
      ['the last rows are not written', 'finish: flush,', 'finish: async () => undefined,'],
      ['a row waits for a full batch', 'if (prompt && !planned) {', 'if (false) {'],
      ['a batch is written twice', 'parts = [];\n    length = 0;', 'length = 0;'],
    ],
  },
  {
    file: 'output/formats/json.ts',
    tests: 'output/formats',
    changes: [
      ['an empty list is not closed', "before === '[\\n' ? '[]\\n' : '\\n]\\n'", "'\\n]\\n'"],
      ['elements are not separated', "before = ',\\n';", "before = '\\n';"],
    ],
  },
  {
    file: 'output/formats/separated.ts',
    tests: 'output/formats',
    changes: [
      ['a quote in csv ends the cell', `"\${text.replaceAll('"', '""')}"`, `"\${text}"`],
      ['a space at the end of a csv cell is lost', '|^\\s|\\s$/', '|^\\s/'],
      ['a tab in tsv is a column', 'special: /[\\\\\\t\\n\\r]/', 'special: /[\\\\\\n\\r]/'],
      ['a secret is in a csv cell', 'const masked = safe(row);', 'const masked = row;'],
      ['csv lines end like tsv lines', "end: '\\r\\n'", "end: '\\n'"],
    ],
  },
  {
    file: 'output/formats/yaml.ts',
    tests: 'output/formats output/sanitise',
    changes: [
      ['an empty list is no YAML list', "if (isEmpty) await batch.add('[]\\n');", ''],
      [
        'YAML holds raw controls',
        'return escapeRaw(document.toString({ lineWidth: 0 }));',
        'return document.toString({ lineWidth: 0 });',
      ],
      ['long YAML lines are folded', 'document.toString({ lineWidth: 0 })', 'document.toString()'],
    ],
  },
  {
    file: 'output/formats/writers.ts',
    tests: 'output/formats',
    changes: [
      ['a row without an id is an empty line', "text === null ? ''", "text === null ? '\\n'"],
    ],
  },
  {
    file: 'output/forms.ts',
    tests: 'output/formats output/mask commands/instances/reading',
    changes: [
      ['JSON shows secrets', 'view.json === undefined ? masked', 'view.json === undefined ? row'],
      ['chosen columns show secrets', 'value(masked) ?? null]', 'value(row) ?? null]'],
      ['an empty cell is missing in JSON', 'value(masked) ?? null]', 'value(masked)]'],
    ],
  },
  {
    file: 'output/sort.ts',
    tests: 'output/table output/formats',
    changes: [
      ['amounts are sorted as words', "kind === 'money' ||", ''],
      ['rows without a value come first', 'missing !== 0 ? missing', 'missing !== 0 ? -missing'],
      [
        'rows without a value turn round with -',
        'missing !== 0 ? missing',
        'missing !== 0 ? turn * missing',
      ],
      ['the order is not turned round', 'downwards ? -1 : 1', '1'],
    ],
  },
  {
    file: 'output/messages.ts',
    tests: 'output/messages',
    changes: [
      [
        'a note is written in JSON mode',
        'options.json === true || options.quiet === true;',
        'options.quiet === true;',
      ],
      [
        '--quiet writes notes',
        'options.json === true || options.quiet === true;',
        'options.json === true;',
      ],
      [
        'a warning has no code',
        'warning: { code, message: shown(text) }',
        'warning: { message: shown(text) }',
      ],
      [
        'a key in a message is shown',
        'clean(withoutKeys(forProfile(text, options.profile)))',
        'clean(forProfile(text, options.profile))',
      ],
      ['a command loses the profile', 'gpucloud --profile ${profile} ', 'gpucloud '],
      [
        'a private key is shown',
        ".replace(/-----BEGIN[\\s\\S]*/, '-----BEGIN …')",
        '',
        { tests: 'output run' },
      ],
      ['a long wait in a log is silent', 'options.clock.now() - shownAt < LINE_EVERY', 'true'],
      [
        'a long wait in a log prints each reading',
        'options.clock.now() - shownAt < LINE_EVERY',
        'false',
      ],
    ],
  },
  {
    file: 'output/live/changes.ts',
    tests: 'output/changes',
    changes: [
      [
        'a row that only grew older has changed',
        'known?.lasting === lasting ? known.text : textOf(printed(row))',
        'textOf(printed(row))',
      ],
      [
        'a row that is gone is not reported',
        'if (name !== null && !now.has(key)) yield',
        'if (false) yield',
      ],
      ['each reading is a change', 'if (known?.text !== text) yield { row };', 'yield { row };'],
      ['a change shows secrets', 'const masked = safe(row);', 'const masked = row;'],
    ],
  },
  {
    file: 'output/index.ts',
    tests: 'output/formats output/sanitise output/sink commands/instances/connections',
    changes: [
      ['an exact text reaches a terminal raw', 'isTerminal() ? cleanLines(text) : text', 'text'],
      [
        'an exact text in a pipe is changed',
        'isTerminal() ? cleanLines(text) : text',
        'cleanLines(text)',
      ],
      ['a text reaches stdout raw', 'sink.write(cleanLines(text))', 'sink.write(text)'],
      ['details show secrets', 'const safe = forms.safe(value);', 'const safe = value;'],
      [
        'an empty list says nothing',
        'if (count === 0 && !live && !sink.ended) options.note(view.empty);',
        '',
      ],
    ],
  },
  {
    file: 'report.ts',
    tests: 'run contract/named-commands commands/instances/lifecycle',
    changes: [
      [
        'an error in JSON has no may_be_billing',
        'may_be_billing: failure.mayBeBilling,',
        'may_be_billing: false,',
      ],
      ['an error in JSON is never retryable', 'retryable: failure.retryable,', 'retryable: false,'],
      [
        'a message holds a raw control',
        'clean(forProfile(withoutKeys(text), profile))',
        'forProfile(withoutKeys(text), profile)',
      ],
      [
        'one of several errors is told',
        'told.flatMap((error) =>',
        'told.slice(0, 1).flatMap((error) =>',
      ],
      ['words behind -- choose the format', 'end < 0 ? argv : argv.slice(0, end)', 'argv'],
      ['-yojson is no format', '/^-[a-zA-Z]*?o(.*)$/', '/^-o(.*)$/'],
      [
        'an error in JSON has no resource',
        'resource: failure.resource ?? null,',
        'resource: null,',
      ],
    ],
  },
];
