const SETTINGS = 'config/resolve config/config';

export const config = [
  {
    file: 'config/resolve.ts',
    tests: `${SETTINGS} commands/login commands/profiles`,
    changes: [
      [
        'a stored key goes to another address',
        'mine !== undefined && !atHome) {',
        'mine !== undefined && false) {',
      ],
      ['a stored key goes before the environment', 'fromEnvironment === undefined && mine', 'mine'],
      ['the account stays with another key', 'account: isOwn ? account : undefined', 'account'],
      [
        '--profile sandbox sends to the address in the environment',
        "(sandbox.source === 'flag' && given.source === 'environment')",
        'false',
      ],
      [
        'a key with a line break is sent',
        'if (verdict.ok) return { value: verdict.value, source };',
        'return { value: text, source };',
      ],
    ],
  },
  {
    file: 'rules/service.ts',
    tests: 'rules config/resolve',
    changes: [
      [
        'http:// goes to any host',
        "url.protocol === 'http:' && !LOOPBACK.test(url.hostname)",
        'false',
      ],
    ],
  },
  {
    file: 'config/store.ts',
    tests: 'config/config',
    changes: [
      ['others can read the config file', 'configFileMode: 0o600', 'configFileMode: 0o644'],
      [
        'a change is not under the lock',
        'withLock(target, async () => save(target, edit(await readConfig(target))), {',
        '((_: string, work: () => Promise<ConfigFile>, __: object) => work())(target, async () => save(target, edit(await readConfig(target))), {',
      ],
      [
        'a full disk leaves half a file',
        "if (readFileSync(fresh, 'utf8') !== text) {",
        'if (false) {',
      ],
      [
        'temporary files with keys stay',
        '} catch (error) {\n    removeLeftovers(target);',
        '} catch (error) {',
      ],
    ],
  },
  {
    file: 'config/exposure.ts',
    tests: 'context/exposed-key',
    changes: [
      [
        'a file that its group may write is safe',
        '(found.mode & 0o022) === 0',
        '(found.mode & 0o002) === 0',
      ],
      [
        'a file that others may write is safe',
        '(found.mode & 0o022) === 0',
        '(found.mode & 0o020) === 0',
      ],
    ],
  },
  {
    file: 'config/keep-key.ts',
    tests: 'config/keyring',
    changes: [
      [
        'a key that no profile names stays in the keyring',
        'await forgetKey(profile, stored.place, stores);\n    ',
        '',
      ],
    ],
  },
  {
    file: 'config/keys.ts',
    tests: 'config/key-command',
    changes: [['a key command that failed gives a key', 'if (code !== 0) {', 'if (false) {']],
  },
  {
    file: 'config/keys.ts',
    tests: 'config/keyring',
    changes: [
      [
        'a keyring entry is shared by two keys',
        '`${profile} ${randomUUID().slice(0, 8)}`',
        'profile',
      ],
    ],
  },
];
