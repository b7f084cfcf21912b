import { describe, expect, test } from 'vitest';
import { commandWords } from '../../src/rules/command-words.ts';
import {
  environmentKey,
  environmentVariable,
  keyClash,
  type Port,
  portClash,
  portNumber,
  protocol,
  publishedPort,
  variableName,
  volume,
} from '../../src/rules/container.ts';
import {
  inRoubles,
  isOver,
  kopecksText,
  money,
  moneyFromZero,
  positiveMoney,
  startedHours,
  type zero,
} from '../../src/rules/money.ts';
import {
  anyName,
  anyNewInstanceName,
  apiKeyName,
  idKey,
  instanceId,
  instanceName,
  isBeginning,
  isSameName,
  isUuid,
  newInstanceName,
  promoCode,
  resourceId,
  typedName,
} from '../../src/rules/names.ts';
import { count, sharedMemoryGb, wholeNumber } from '../../src/rules/numbers.ts';
import type { Rule } from '../../src/rules/rule.ts';
import { apiKey, baseUrl, isLoopback } from '../../src/rules/service.ts';
import { sshHost, sshPort, sshUser } from '../../src/rules/ssh.ts';
import {
  duration,
  durationWord,
  idleTime,
  lifetime,
  pollInterval,
  positiveDuration,
  schedule,
} from '../../src/rules/times.ts';
import { fc } from '../support/random.ts';

/** Returns the value, or the broken rule. */
function outcome<T>(rule: Rule<T>, text: string): T | string {
  const verdict = rule(text);
  return verdict.ok ? verdict.value : verdict.rule;
}

const NAME =
  'must be 3 to 50 letters (a-z), digits or hyphens, start with a letter and not end with a hyphen';
const AN_ID = 'must not look like an ID';
const UUID = 'deadbeef-0000-4000-8000-00000000000F';
const EMPTY = 'must not be empty';
const ID =
  'must have at most 200 letters, digits, ".", "_", "~" and "-", and not start with ".", "~" or "-"';
const PORT = 'the port must be a whole number from 1 to 65535';
const MEMORY = 'must be 0.1 to 999999 GB';
const MAPPING = 'must be EXTERNAL:INTERNAL[/tcp|udp][,name=NAME][,main], such as 8080:80';
const PROTOCOL = 'the protocol must be tcp or udp';
const KEY = 'must contain only letters, digits and "_", and not start with a digit';
const PATHS = 'must be HOST_PATH:CONTAINER_PATH, without options such as :ro';
const ROUBLES = 'must be a decimal number of roubles, such as 1500 or 99.90';
const UNITS = 'must be whole numbers with units, such as 500ms, 30s, 15m, 1h30m or 3d';
const MINUTES = 'must be a whole number of minutes from 1m to 59m';
const ADDRESS = 'must be a complete address, such as https://api.example.com/v1';
const HTTPS = 'must start with https://';
const LOOPBACK = 'http:// is only for this computer (loopback): it would send the key unencrypted';
const PERSON = 'must not contain a user name or password';
const QUERY = 'must not contain a query or fragment';
const ASCII = 'must be one line of visible ASCII characters';
const HOST = 'must be an IP address, or a name of letters, digits, "." and "-"';
const USER =
  'must have at most 64 letters, digits, ".", "_" and "-", and start with a letter or "_"';
const DAY = 86_400_000;

const accepted = (...texts: string[]) => texts.map((text): [string, unknown] => [text, text]);
const rejected = (rule: string, ...texts: string[]) =>
  texts.map((text): [string, unknown] => [text, rule]);

/** The texts of each rule, with the value or the broken rule. */
const ROWS: readonly (readonly [Rule<unknown>, readonly (readonly [string, unknown])[]])[] = [
  [
    instanceName,
    [
      ...accepted('abc', 'A1b', 'trainer-2', 'a'.repeat(50), UUID),
      ...rejected(NAME, '', 'ab', 'a'.repeat(51), '1ab', '-ab', 'ab-', 'a_b', 'a b', 'машина'),
      ...rejected(NAME, 'abс', 'abc\n', '\nabc'),
    ],
  ],
  [
    newInstanceName,
    [
      ...accepted('trainer', 'deadbeef-0000-4000-8000-00000000000', 'deadbeef-0000-4000-8000'),
      ...rejected(AN_ID, UUID, UUID.toLowerCase()),
      ...rejected(NAME, 'ab'),
    ],
  ],
  [
    anyNewInstanceName,
    [...accepted('a', 'my box'), ...rejected(AN_ID, ` ${UUID} `), ...rejected(EMPTY, '', ' ')],
  ],
  [
    apiKeyName,
    [
      ...accepted('ключ', 'x'.repeat(50), '🔑'.repeat(50)),
      ...rejected('must have at most 50 characters', 'x'.repeat(51), '🔑'.repeat(51)),
      ...rejected(EMPTY, '', '  '),
    ],
  ],
  [anyName, [...accepted('my drive', ' x '), ...rejected(EMPTY, '', ' \t')]],
  [promoCode, [[' Ab1 ', 'Ab1'], ...rejected(EMPTY, '', ' ')]],
  [
    resourceId,
    [
      ...accepted(UUID, 'tpl_1', 'a.b', '_x', '7', 'a~', 'x'.repeat(200)),
      ...rejected(ID, '', '.', '..', 'a/b', 'a?b', 'a#b', 'a b', '%2e', '-x', '~x', 'a\\b'),
      ...rejected(ID, 'a\nb', 'я', 'x'.repeat(201)),
    ],
  ],
  [instanceId, [[UUID, UUID.toLowerCase()], ...rejected('must be a UUID', '', 'x', `${UUID}0`)]],
  [
    portNumber,
    [
      ['1', 1],
      ['65535', 65535],
      ['080', 80],
      ...rejected(PORT, '0', '65536', '1.5', '0x10', '1e3', '-1', '+1', '', ' 1', '١'),
    ],
  ],
  [
    sshPort,
    [
      ['1', 1],
      ['65535', 65535],
      ...rejected('must be a whole number from 1 to 65535', '0', '65536', 'x'),
    ],
  ],
  [
    count,
    [
      ['1', 1],
      ['1000000000', 1_000_000_000],
      ...rejected('must be a whole number from 1 to 1000000000', '0', '1000000001', 'x'),
    ],
  ],
  [
    (text) => wholeNumber(text, 0, Number.POSITIVE_INFINITY),
    [
      ['9'.repeat(15), 10 ** 15 - 1],
      ['1'.repeat(16), 'must be a whole number from 0 to Infinity'],
    ],
  ],
  [
    sharedMemoryGb,
    [
      ['0.1', 0.1],
      ['8', 8],
      ['8g', 8],
      ['16.5GB', 16.5],
      ['999999', 999_999],
      // The API document does not limit the number of decimals.
      ['0.1234567', 0.1234567],
      ...rejected(MEMORY, '0.09', '0', '-1', '1e3', '0x10', '.5', '5.', '', 'NaN', 'Infinity'),
      ...rejected(MEMORY, '512m', 'g', '8 g', '8g5', '99999999999999999999', '1000000'),
    ],
  ],
  [
    protocol,
    [
      ['udp', 'UDP'],
      ['TCP', 'TCP'],
      ['icmp', PROTOCOL],
    ],
  ],
  [
    publishedPort,
    [
      ['8080:80', { external_port: 8080, internal_port: 80, protocol: 'TCP' }],
      ['53:54/udp', { external_port: 53, internal_port: 54, protocol: 'UDP' }],
      [
        '8888:8889/tcp,name=web,main',
        { external_port: 8888, internal_port: 8889, protocol: 'TCP', name: 'web', is_main: true },
      ],
      ...rejected(PORT, '80:', ':80', '0:80', '80:65536', '8:1.5', '80:80-90', '1-2:3-4'),
      ...rejected(MAPPING, '', '1:2:3', '127.0.0.1:80:80', '[::1]:80:80', '80:80,', '1:1,xname=x'),
      ...rejected(MAPPING, '80:80,name=', '80:80,main,main', '80:80,name=web,name=web'),
      ...rejected(PROTOCOL, '80:80/sctp'),
      ['80', 'to publish 80 under its own number, write 80:80'],
      ['80/tcp', 'to publish 80 under its own number, write 80:80/tcp'],
    ],
  ],
  [environmentKey, [...accepted('A', '_a1', 'HF_TOKEN'), ...rejected(KEY, '', '1A', 'A-B', 'A=B')]],
  [
    variableName,
    [
      ...accepted('PATH', 'BASH'),
      ...rejected("can't be passed: the instance's shell sets it", 'BASHOPTS', 'BASH_VERSINFO'),
      ...rejected("can't be passed: the instance's shell sets it", 'EUID', 'PPID', 'SHELLOPTS'),
      ...rejected("can't be passed: the instance's shell sets it", 'UID'),
      ...rejected('must be a name without its value', 'A=b', 'UID=0'),
      ...rejected(KEY, 'A-B', 'Ключ'),
    ],
  ],
  [
    environmentVariable,
    [
      ['A=b=c ', { key: 'A', value: 'b=c ' }],
      ['A=', { key: 'A', value: '' }],
      ...rejected('must be KEY=VALUE', '=hunter2', 'hunter2', ''),
    ],
  ],
  [
    volume,
    [
      ['/d:/mnt', { host_path: '/d', container_path: '/mnt' }],
      ['a:b', { host_path: 'a', container_path: 'b' }],
      ...rejected(PATHS, '/data', ':/mnt', '/data:', '', '/a:/b:ro', '/a:/b:'),
    ],
  ],
  [
    positiveMoney,
    [
      ...rejected('must be more than zero roubles', '0', '0.00', '-1'),
      ...rejected(ROUBLES, '', '1e5', '0x10', 'NaN', '1,5', '.5', '5.', '--1', '1 000'),
    ],
  ],
  [moneyFromZero, [...rejected('must not be negative', '-0.01'), ...rejected(ROUBLES, 'Infinity')]],
  [
    duration,
    [
      ['500ms', 500],
      ['1h30m', 5_400_000],
      ['5d16h', 489_600_000],
      ['1m5ms', 60_005],
      ['90m', 5_400_000],
      ['999999999ms', 999_999_999],
      ...rejected(UNITS, '', '5', 's', '1.5h', '-1s', '1 h', '1h 30m', '1h30', 'h30m', '1h-30m'),
      ...rejected(UNITS, '1w', '1H', '1000000000ms'),
    ],
  ],
  [
    positiveDuration,
    [
      ['1ms', 1],
      ['0s', 'must be longer than zero'],
      ['x', UNITS],
    ],
  ],
  [
    lifetime,
    [
      ['366d', 366 * DAY],
      ['366d1ms', 'must be at most 366d'],
      ['0s', 'must be longer than zero'],
    ],
  ],
  [
    idleTime,
    [
      ['10m', 600_000],
      ['9m59s', 'must be at least 10m'],
      ['x', UNITS],
    ],
  ],
  [
    schedule,
    [
      ['1m', 60_000],
      ['59m', 59 * 60_000],
      ...rejected(MINUTES, '0m', '59s', '90s', '60m', '1h', 'x'),
    ],
  ],
  [
    pollInterval,
    [
      ['500ms', 500],
      ['499ms', 'the shortest interval is 500ms'],
      ['x', UNITS],
    ],
  ],
  [
    baseUrl,
    [
      ...accepted('https://api.example.com', 'http://localhost:8080', 'http://[::1]:1'),
      ['https://api.example.com/v1//', 'https://api.example.com/v1'],
      ['http://127.0.0.1:1/', 'http://127.0.0.1:1'],
      ...rejected(ADDRESS, 'api.example.com', ''),
      ...rejected(HTTPS, 'ftp://x', 'file:///etc/passwd'),
      ...rejected(LOOPBACK, 'http://api.example.com', 'http://127.0.0.1.evil.com'),
      ...rejected(LOOPBACK, 'http://localhost.evil.com', 'http://evil.localhost'),
      ...rejected(PERSON, 'https://user:pw@api.example.com', 'https://user@api.example.com'),
      ...rejected(PERSON, 'https://:pw@api.example.com'),
      ...rejected(QUERY, 'https://a.example/?a=b', 'https://a.example/#x', 'https://a.example/?'),
    ],
  ],
  [
    apiKey,
    [
      ...accepted('svc_sk_live_x', 'other', '!', '~', 'x'.repeat(1024)),
      ...rejected(ASCII, 'a\r\nX: y', 'a b', '', 'ключ', 'a\n', 'x'.repeat(1025)),
    ],
  ],
  [
    sshHost,
    [
      ...accepted('a', '203.0.113.255', '::1', 'gpu-1.example.com', '1a.b2', 'a'.repeat(63)),
      ...accepted(`${'a.'.repeat(126)}b`),
      ...rejected(HOST, '', '-a', 'a-', 'a..b', 'a.', '256.0.0.1', '1.2.3', '0x7f.1', 'a.1', 'a b'),
      ...rejected(HOST, '::1]/x:1', '::1]/', '::1]:1/x', '[::1]', '1.2.3.4:5', ':'),
      ...rejected(HOST, 'fe80::1%eth0', ':::', 'a'.repeat(64), `${'a.'.repeat(126)}bb`, '-oX=y'),
    ],
  ],
  [
    sshUser,
    [
      ...accepted('root', '_x', 'a.b-c_1', 'a'.repeat(64)),
      ...rejected(USER, '', '1a', '-a', '.a', 'a b', 'a@b', 'a'.repeat(65)),
    ],
  ],
  [
    commandWords,
    [
      ['notify-send  gpucloud', ['notify-send', 'gpucloud']],
      [" pass\tshow 'a b' ", ['pass', 'show', 'a b']],
      ['a"b c"d', ['ab cd']],
      ['a\\ b \\\\', ['a b', '\\']],
      [`'a\\' "b\\"c"`, ['a\\', 'b"c']],
      [`a '' ""`, ['a', '', '']],
      ["'open", "it has an unclosed '"],
      ['"open', 'it has an unclosed "'],
      ['a\\', 'it ends with a backslash'],
      ...rejected(EMPTY, '  ', "'' a"),
    ],
  ],
];

describe.each(ROWS.map(([rule, rows]) => [rule.name, rule, rows] as const))(
  'the rule %s',
  (_name, rule, rows) => {
    test.each(rows)('of %j', (text, expected) => expect(outcome(rule, text)).toEqual(expected));
  },
);

describe('names', () => {
  test('accepts exactly the instance names that the API document allows', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        const documented =
          text.length >= 3 &&
          text.length <= 50 &&
          /^[A-Za-z][A-Za-z0-9-]*$/.test(text) &&
          !text.endsWith('-');
        expect(instanceName(text).ok).toBe(documented && !text.includes('\n'));
      }),
    );
  });

  test.each([
    ['trainer', 'trainer'],
    ['a'.repeat(36), 'a'.repeat(36)],
    ['a'.repeat(37), 'id-1'],
    [UUID, 'id-1'],
    ['my box', 'id-1'],
    [undefined, 'id-1'],
  ])('types the name %j as %s', (name, typed) => expect(typedName(name, 'id-1')).toBe(typed));

  test.each([
    ['trainer', 'Trainer', true],
    ['TRAINER', ' trainer ', true],
    ['trainer', 'trainer-1', false],
  ])('compares the instance names %j and %j without case: %s', (one, other, isSame) => {
    expect(isSameName(one, other)).toBe(isSame);
  });

  test('accepts only IDs that stay one path segment in a URL', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), (id) => {
        fc.pre(resourceId(id).ok);
        const { pathname, search, hash } = new URL(`http://h/base/${id}/end`);
        expect([pathname, search, hash]).toEqual([`/base/${id}/end`, '', '']);
      }),
    );
  });

  test('recognizes a UUID by its shape, and ignores its case', () => {
    for (const text of [`x${UUID}`, `${UUID}x`, '3f0c5d9e']) {
      expect(isUuid(text)).toBe(false);
      expect(idKey(text)).toBe(text);
    }
    expect(idKey(UUID)).toBe(UUID.toLowerCase());
    expect(['DEA', 'DEAD', 'EADB'].map((text) => isBeginning(text, UUID))).toEqual([
      false,
      true,
      false,
    ]);
  });
});

const port = (external_port: number, protocol: Port['protocol'], is_main = false) => ({
  ...{ external_port, protocol, is_main },
});
test.each([
  [[], undefined],
  [[port(80, 'TCP', true), port(80, 'UDP'), port(81, 'TCP')], undefined],
  [
    [port(81, 'UDP'), port(80, 'TCP'), port(80, 'TCP')],
    { at: 2, rule: 'the external port 80/tcp is published twice' },
  ],
  [
    [port(80, 'TCP', true), port(81, 'TCP'), port(82, 'TCP', true), port(83, 'TCP', true)],
    { at: 2, rule: 'only one port can be the main one' },
  ],
])('finds the ports %j that clash', (ports, clash) => expect(portClash(ports)).toEqual(clash));

test('finds the first variable that is set twice', () => {
  expect(keyClash(['A', 'B', 'a'])).toBeUndefined();
  expect(keyClash(['C', 'A', 'B', 'B', 'A'])).toEqual({ at: 3, rule: 'B is set twice' });
});

test.each([
  ['http://localhost:1', true],
  ['http://127.255.0.1', true],
  ['http://[::1]', true],
  ['https://localhost.evil.com', false],
  ['https://x.localhost', false],
])('whether %s is this computer: %s', (url, is) => expect(isLoopback(url)).toBe(is));

describe('money', () => {
  const value = (text: string) => outcome(money, text) as ReturnType<typeof zero>;

  test('adds and prints amounts exactly', () => {
    expect(kopecksText(value('0.1').plus(value('0.2')))).toBe('0.30');
    const long = '123456789012345678901234567890.123456789012345678901234567891';
    expect(kopecksText(value(long))).toBe(long);
  });

  test.each([
    ['1', '1.00', '1.00 ₽'],
    ['999.9', '999.90', '999.90 ₽'],
    ['0.0125', '0.0125', '0.0125 ₽'],
    ['-1000', '-1000.00', '-1,000.00 ₽'],
    ['1234567.1234', '1234567.1234', '1,234,567.1234 ₽'],
    ['100.000', '100.00', '100.00 ₽'],
  ])('prints the amount %s as %s and %s', (text, shown, forPeople) => {
    expect([kopecksText(value(text)), inRoubles(value(text))]).toEqual([shown, forPeople]);
  });

  test('accepts the smallest limits', () => {
    expect(`${outcome(positiveMoney, '0.01')} ${outcome(moneyFromZero, '0')}`).toBe('0.01 0');
  });

  test.each([
    [0, 1],
    [3_600_000, 1],
    [3_600_001, 2],
    [7_200_000, 2],
  ])('counts the hours that began in %d ms: %d', (milliseconds, hours) => {
    expect(startedHours(milliseconds)).toBe(hours);
  });

  test.each([
    ['0', false],
    ['1.00', false],
    ['1.01', true],
    ['-0.01', true],
    ['NaN', true],
    ['1,00', true],
    ['', true],
    [null, true],
    [undefined, true],
  ])('compares the price %j with a limit of 1: over is %s', (price, over) => {
    expect(isOver(price, value('1'))).toBe(over);
  });
});

test.each([
  [0, '0s'],
  [500, '500ms'],
  [30_000, '30s'],
  [90_000, '90s'],
  [900_000, '15m'],
  [7_200_000, '2h'],
  [3 * DAY, '3d'],
])('writes the duration %d as %s', (milliseconds, word) => {
  expect(durationWord(milliseconds)).toBe(word);
  expect(outcome(duration, word)).toBe(milliseconds);
});
