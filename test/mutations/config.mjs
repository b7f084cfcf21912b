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
      [
        'a stored key goes before the environment',
        'fromEnvironment === undefined && mine !== undefined && atHome',
        'mine !== undefined && atHome',
      ],
      ['the account stays with another key', 'account: isOwn ? account : undefined', 'account'],
      [
        'the environment chooses the profile before a flag',
        'if (flags.profile !== undefined) {',
        "if (flags.profile !== undefined && variable(env, 'GPUCLOUD_PROFILE') === undefined) {",
      ],
      [
        'the environment chooses the address before a flag',
        'if (flags.baseUrl !== undefined) {',
        "if (flags.baseUrl !== undefined && variable(env, 'GPUCLOUD_BASE_URL') === undefined) {",
      ],
      [
        '--profile sandbox sends to the address in the environment',
        "(sandbox.source === 'flag' && given.source === 'environment')",
        'false',
      ],
      [
        'a current sandbox swallows an address',
        "if (sandbox.source === 'profile') {\n    return false;",
        "if (sandbox.source === 'profile') {\n    return true;",
      ],
      [
        'a profile whose address was replaced is named',
        "chosen?.source === 'profile' && !atHome ? undefined : chosen",
        'chosen',
      ],
      [
        'a key with a line break is sent',
        'if (!verdict.ok) {\n    throw usageError(`GPUCLOUD_API_KEY',
        'if (false) {\n    throw usageError(`GPUCLOUD_API_KEY',
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
      ['a host that begins with localhost is loopback', '|\\[::1\\])$/', '|\\[::1\\])/'],
      [
        'a base URL holds a password',
        "url.username !== '' || url.password !== ''",
        "url.username !== ''",
      ],
      [
        'a base URL holds a fragment',
        "text.includes('?') || text.includes('#')",
        "text.includes('?')",
      ],
      ['a key holds a space', '/^[\\x21-\\x7e]{1,1024}$/', '/^[\\x20-\\x7e]{1,1024}$/'],
    ],
  },
  {
    file: 'config/store.ts',
    tests: 'config/config config/disk config/locked',
    changes: [
      ['others can read the config file', 'configFileMode: 0o600', 'configFileMode: 0o644'],
      [
        'a change is not under the lock',
        'return await locked(target, async () => await save(target, edit(await readConfig(target))));',
        'return await save(target, edit(await readConfig(target)));',
        { tests: 'config/config config/locked config/disk' },
      ],
      [
        'a full disk leaves half a file',
        "if (readFileSync(target, 'utf8') !== text) {",
        'if (false) {',
      ],
      [
        'the previous file is not kept',
        'if (stat !== undefined) await replaceFile(previous',
        'if (false) await replaceFile(previous',
      ],
      ['the previous file is not restored', 'restore(target, previous, stat !== undefined);', ''],
      ['temporary files with keys stay', 'removeLeftovers(target);\n    syncFolder', 'syncFolder'],
      [
        'a link is replaced by a file',
        'statOf(path) === undefined ? path : realpathSync(path)',
        'path',
      ],
      [
        'an empty config file is a new one',
        "if (text.trim() === '') throw unusable(path, 'it is empty');",
        "if (text.trim() === '') return emptyFile();",
      ],
      ['what is no settings file is written over', 'if (wrong !== undefined) {', 'if (false) {'],
    ],
  },
  {
    file: 'config/file.ts',
    tests: 'config/file config/config commands/logout',
    changes: [
      [
        'a profile named constructor is there',
        'Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined',
        'file.profiles[name]',
      ],
      [
        'an account outlives its key',
        '[name]: { ...unknown, ...profile }',
        '[name]: { ...unknown, ...(account && { account }), ...profile }',
      ],
      [
        'fields of a newer version are lost',
        '[name]: { ...unknown, ...profile }',
        '[name]: profile',
      ],
      [
        'a removed profile stays current',
        'current === undefined || current === name',
        'current === undefined',
      ],
    ],
  },
  {
    file: 'config/exposure.ts',
    tests: 'config/config commands/doctor commands/login',
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
      ['a file of another user is safe', 'found.uid !== uid && found.uid !== 0', 'false'],
      ['a file of root is exposed', 'found.uid !== uid && found.uid !== 0', 'found.uid !== uid'],
      [
        'a sticky folder is exposed',
        'const isSticky = found.isDirectory() && (found.mode & 0o1000) !== 0;',
        'const isSticky = false;',
      ],
      [
        'the folder of the config file is not looked at',
        '[dirname(config), dirname(file), file]',
        '[file]',
      ],
    ],
  },
  {
    file: 'config/names.ts',
    tests: 'config/names',
    changes: [
      ['a profile can be named Sandbox', 'text.toLowerCase() === SANDBOX', 'text === SANDBOX'],
      ['a profile name is a flag', "if (text.startsWith('-')) {", 'if (false) {'],
    ],
  },
  {
    file: 'config/keep-key.ts',
    tests: 'commands/login commands/api-keys',
    changes: [
      [
        'a key that no profile names stays in the keyring',
        'await forgetKey(profile, stored.place, stores);\n    throw error;',
        'throw error;',
      ],
      [
        'the replaced key stays in the keyring',
        'if (!samePlace(before, stored.place)) await forgetKey(profile, before, stores);',
        '',
      ],
      ['a key for the keyring is put into the file', "store === 'keyring' || !(error", '!(error'],
      [
        'the new key is removed from the keyring',
        'if (!samePlace(before, stored.place)) await',
        'await',
      ],
    ],
  },
  {
    file: 'config/key-command.ts',
    tests: 'config/key-command commands/login',
    changes: [
      ['a key command that failed gives a key', 'if (code !== 0) {', 'if (false) {'],
      [
        'notes below the key are sent',
        "(printed.split('\\n', 1)[0] ?? '').trim()",
        'printed.trim()',
      ],
      ['an empty line is a key', "if (key === '') throw", "if (key === 'x') throw"],
    ],
  },
  {
    file: 'config/keys.ts',
    tests: 'commands/login commands/profiles commands/doctor',
    changes: [
      ['a key command runs twice', 'printed.set(command, key);', ''],
      [
        'a keyring entry is shared by two keys',
        '`${profile} ${randomUUID().slice(0, 8)}`',
        'profile',
      ],
    ],
  },
  {
    file: 'config/folders.ts',
    tests: 'config/folders',
    changes: [
      ['a relative folder of ours is used', 'if (!isAbsolute(path)) {', 'if (false) {'],
      [
        'a relative XDG folder is used',
        'path !== undefined && isAbsolute(path) ? path : undefined',
        'path',
      ],
    ],
  },
];
