export const reach = [
  {
    file: 'reach/ssh-argv.ts',
    tests: 'commands/instances/ssh commands/instances/connections reach/include',
    changes: [
      [
        'another host key is accepted',
        'StrictHostKeyChecking=accept-new',
        'StrictHostKeyChecking=no',
      ],
      ['host keys are stored by address', '`HostKeyAlias=${id}`,', ''],
      ['a host may be an option', "['-p', String(port), '--', ", "['-p', String(port), "],
      ["the agent's other keys are tried first", "...asOptions(['IdentitiesOnly=yes'])", ''],
      ['a tunnel listens on every address', '127.0.0.1:${local}', '${local}'],
      ['a path with a percent sign is replaced', "path.replaceAll('%', '%%')", 'path'],
      ['a local path may be an option of scp', "path.startsWith('-') ? `./${path}` : path", 'path'],
    ],
  },
  {
    file: 'reach/run-ssh.ts',
    tests: 'commands/instances/ssh',
    changes: [['the exit code of ssh is lost', 'context.endWith(code);\n  if', 'if']],
  },
  {
    file: 'reach/url-template.ts',
    tests: 'commands/instances/connections',
    changes: [
      ['half a link is shown', 'return complete ? filled : undefined;', 'return filled;'],
      ['a secret in a link is not encoded', 'encodeURIComponent(String(secret))', 'String(secret)'],
    ],
  },
  {
    file: 'rules/ssh.ts',
    tests: 'rules commands/instances/ssh',
    changes: [
      [
        'a user name may be an option',
        '/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/',
        '/^[A-Za-z_-][A-Za-z0-9_.-]{0,63}$/',
      ],
      ['a port of 0 is a port', 'wholeNumber(text, 1, 65_535', 'wholeNumber(text, 0, 65_535'],
    ],
  },
];

export const catalog = [
  {
    file: 'catalog/learn.ts',
    tests: 'commands/catalog commands/instances/hardware-names',
    changes: [
      [
        'an older price takes the place of a newer one',
        'return isOlder ? {} :',
        'return false ? {} :',
      ],
      [
        'a price that is no amount is kept',
        "typeof price !== 'string' || !isMoney(price)",
        "typeof price !== 'string'",
      ],
      ['an offer is seen once only', 'isChanged || !isRecent', 'isChanged'],
    ],
  },
];
