export const reach = [
  {
    file: 'ssh/ssh-argv.ts',
    tests: 'commands/instances/ssh commands/instances/connections ssh/ssh-endpoint',
    changes: [
      [
        'another host key is accepted',
        'StrictHostKeyChecking=accept-new',
        'StrictHostKeyChecking=no',
      ],
      ['a host may be an option', "['-p', String(port), '--', ", "['-p', String(port), "],
      ['a tunnel listens on every address', '127.0.0.1:${local}', '${local}'],
    ],
  },
  {
    file: 'ssh/run-ssh.ts',
    tests: 'commands/instances/ssh',
    changes: [['the exit code of ssh is lost', 'context.endWith(code);\n  if', 'if']],
  },
  {
    file: 'ssh/endpoints.ts',
    tests: 'commands/instances/connections',
    changes: [
      ['a secret in a link is not encoded', 'encodeURIComponent(String(secret))', 'String(secret)'],
    ],
  },
  {
    file: 'system/programs.ts',
    tests: 'system/on-path',
    changes: [
      ['a program of the current folder runs', 'folders.filter(win32.isAbsolute)', 'folders'],
      ['a missing program is looked for elsewhere', '?? join(SYSTEM, `${file}.exe`)', '?? file'],
    ],
  },
];
