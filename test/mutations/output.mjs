export const output = [
  {
    file: 'rules/secrets.ts',
    tests: 'output/mask output/formats',
    changes: [
      ['a failure reason shows a secret', "'failure_reason',", ''],
      ['a command is shown', "'docker_config.run_command',", ''],
      [
        "a registry's password is shown",
        'if (password === undefined) return image;',
        'return image;',
      ],
    ],
  },
  {
    file: 'output/mask.ts',
    tests: 'output/mask output/formats',
    changes: [
      ['a key in a payload is shown', 'masked = maskNamed(masked, secrets, 0);', ''],
      ['the own key is shown', 'found.length === 0 ? value : ', 'true ? value : '],
      ['a link with a password is shown', " && !host.includes('@')", ''],
    ],
  },
  {
    file: 'output/sanitise.ts',
    tests: 'output/sanitise output/formats',
    changes: [
      ['a bidi control is data', "(found === '\\n' || found === '\\t' ? found : '')", 'found'],
      ['JSON holds raw controls', 'if (!SUSPECT_IN_LINES.test(whole)) ', ''],
    ],
  },
  {
    file: 'rules/clean.ts',
    tests: 'output/sanitise output/messages',
    changes: [
      ['a control sequence leaves its end', ".replace(sequences(), '')", ''],
      ['a bidi control stays', ".replace(unseen(), '')", ''],
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
      ['what was not taken at once is lost', 'if (rest.length === 0) return;', 'return;'],
      [
        'a write is not waited for',
        '\n        else resolve();\n      }',
        '\n      });\n      resolve(',
      ],
    ],
  },
  {
    file: 'output/rows.ts',
    tests: 'output/sink output/formats commands/instances/follow',
    changes: [['rows go on when the reader has gone', '    if (sink.ended) return;\n  }', '  }']],
  },
  {
    file: 'output/formats/batch.ts',
    tests: 'output/formats output/quick-rows output/sink',
    changes: [
      ['the last rows are not written', 'finish: flush,', 'finish: async () => undefined,'],
    ],
  },
  {
    file: 'output/formats/separated.ts',
    tests: 'output/formats',
    changes: [['a secret is in a csv cell', 'const masked = safe(row);', 'const masked = row;']],
  },
  {
    file: 'output/forms.ts',
    tests: 'output/formats output/mask commands/instances/reading',
    changes: [
      ['JSON shows secrets', 'view.json === undefined ? masked', 'view.json === undefined ? row'],
    ],
  },
  {
    file: 'output/messages.ts',
    tests: 'output/messages',
    changes: [
      [
        'a key in a message is shown',
        'withoutKeys(clean(withProfile(text, options.profile)))',
        'clean(withProfile(text, options.profile))',
      ],
    ],
  },
  {
    file: 'output/index.ts',
    tests: 'output/formats output/sanitise output/sink commands/instances/connections',
    changes: [
      ['an exact text reaches a terminal raw', 'isTerminal() ? cleanLines(text) : text', 'text'],
      ['details show secrets', 'const safe = forms.safe(value);', 'const safe = value;'],
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
      [
        'a message holds a raw control',
        'withoutKeys(clean(withProfile(text, profile)))',
        'withoutKeys(withProfile(text, profile))',
      ],
      [
        'an error in JSON has no resource',
        'resource: failure.resource ?? null,',
        'resource: null,',
      ],
    ],
  },
];
