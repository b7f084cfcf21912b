import { describe, expect, test } from 'vitest';
import { commandWords } from '../../src/rules/command-words.ts';
import {
  environmentKey,
  environmentVariable,
  portNumber,
  protocol,
  publishedPort,
  volume,
} from '../../src/rules/container.ts';
import { isOver, kopecksText, money, positiveMoney } from '../../src/rules/money.ts';
import {
  anyName,
  anyNewInstanceName,
  apiKeyName,
  instanceName,
  isSameName,
  isUuid,
  newInstanceName,
  resourceId,
  typedName,
} from '../../src/rules/names.ts';
import { count, sharedMemoryGb } from '../../src/rules/numbers.ts';
import type { Rule } from '../../src/rules/rule.ts';
import { apiKey, baseUrl } from '../../src/rules/service.ts';
import { duration, durationWord, positiveDuration } from '../../src/rules/times.ts';
import { fc } from '../support/random.ts';

function accepted<T>(rule: Rule<T>, text: string): T {
  const verdict = rule(text);
  if (!verdict.ok) throw new Error(`"${text}": ${verdict.rule}`);
  return verdict.value;
}

function ruleBrokenBy(rule: Rule<unknown>, text: string): string {
  const verdict = rule(text);
  if (verdict.ok) throw new Error(`"${text}" was let through`);
  return verdict.rule;
}

describe('name rules', () => {
  test.each(['abc', 'A1-', 'trainer-2', 'a'.repeat(50)].filter((name) => !name.endsWith('-')))(
    'accepts the instance name %s',
    (name) => expect(accepted(instanceName, name)).toBe(name),
  );

  test.each([
    'ab',
    'a'.repeat(51),
    '',
    '1ab',
    '-ab',
    'ab-',
    'a_b',
    'a b',
    'машина',
    'abс',
    'abc\n',
  ])('rejects the instance name %j', (name) => {
    expect(ruleBrokenBy(instanceName, name)).toBe(
      'must be 3 to 50 letters (a-z), digits or hyphens, start with a letter and not end with a hyphen',
    );
  });

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

  test.each(['deadbeef-0000-4000-8000-000000000001', 'DEADBEEF-0000-4000-8000-00000000000F'])(
    'rejects the new instance name %s, and never suggests typing it',
    (name) => {
      expect(accepted(instanceName, name)).toBe(name);
      expect(ruleBrokenBy(newInstanceName, name)).toBe('must not look like an ID');
      expect(ruleBrokenBy(anyNewInstanceName, ` ${name}`)).toBe('must not look like an ID');
      expect(typedName(name, 'id-1')).toBe('id-1');
    },
  );

  test.each(['trainer', 'deadbeef-0000-4000-8000-00000000000', 'deadbeef-0000-4000-8000'])(
    'accepts the new instance name %s',
    (name) => {
      expect(accepted(newInstanceName, name)).toBe(name);
      expect(typedName(name, 'id-1')).toBe(name);
    },
  );

  test.each([
    ['trainer', 'Trainer', true],
    ['TRAINER', ' trainer ', true],
    ['trainer', 'trainer-1', false],
  ])('compares the instance names %j and %j without case: %s', (one, other, isSame) => {
    expect(isSameName(one, other)).toBe(isSame);
  });

  test('limits an API key name to 50 characters, counting an emoji as one', () => {
    expect(accepted(apiKeyName, 'ключ'.repeat(12))).toHaveLength(48);
    expect(apiKeyName('🔑'.repeat(50)).ok).toBe(true);
    expect(ruleBrokenBy(apiKeyName, 'x'.repeat(51))).toContain('at most 50');
    expect(ruleBrokenBy(apiKeyName, '  ')).toContain('must not be empty');
  });

  test('accepts any non-empty name for other resources', () => {
    expect(accepted(anyName, 'my drive')).toBe('my drive');
    expect(ruleBrokenBy(anyName, '')).toContain('must not be empty');
  });
});

describe('the ID rule', () => {
  test.each(['3f0c5d9e-1111-4222-8333-444455556666', 'tpl_1', 'a.b', '_x', '7'])(
    'accepts the ID %s',
    (id) => {
      expect(accepted(resourceId, id)).toBe(id);
    },
  );

  test.each([
    '',
    '.',
    '..',
    'a/b',
    'a?b',
    'a#b',
    'a b',
    '%2e',
    '-x',
    'a\\b',
    'a\nb',
    'я',
    'x'.repeat(201),
  ])('rejects the ID %j', (id) => expect(resourceId(id).ok).toBe(false));

  test('accepts only IDs that stay one path segment in a URL', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), (id) => {
        fc.pre(resourceId(id).ok);
        const { pathname, search, hash } = new URL(`http://h/base/${id}/end`);
        expect([pathname, search, hash]).toEqual([`/base/${id}/end`, '', '']);
      }),
    );
  });

  test('recognizes a UUID by its shape', () => {
    expect(isUuid('3F0C5D9E-1111-4222-8333-444455556666')).toBe(true);
    expect(isUuid('3f0c5d9e')).toBe(false);
    expect(isUuid('x3f0c5d9e-1111-4222-8333-444455556666')).toBe(false);
    expect(isUuid('3f0c5d9e-1111-4222-8333-444455556666x')).toBe(false);
  });
});

describe('number rules', () => {
  test.each([
    ['1', 1],
    ['65535', 65535],
    ['080', 80],
  ])('accepts the port number %s', (text, port) => {
    expect(accepted(portNumber, text)).toBe(port);
  });

  test.each(['0', '65536', '1.5', '0x10', '1e3', '-1', '+1', '', ' 1', '١'])(
    'rejects the port number %j',
    (text) => {
      expect(ruleBrokenBy(portNumber, text)).toContain('1 to 65535');
    },
  );

  test.each([
    ['0.1', 0.1],
    ['8', 8],
    ['16.5', 16.5],
    ['8g', 8],
    ['16.5GB', 16.5],
    // The API document does not limit the number of decimals.
    ['0.1234567', 0.1234567],
  ])('accepts %s GB of shared memory', (text, gb) => {
    expect(accepted(sharedMemoryGb, text)).toBe(gb);
  });

  test.each([
    '0.09',
    '0',
    '-1',
    '1e3',
    '0x10',
    '.5',
    '5.',
    '',
    'NaN',
    'Infinity',
    '512m',
    'g',
    '8 g',
    '99999999999999999999',
    '1000000',
  ])('rejects --shm-size %j', (text) =>
    expect(ruleBrokenBy(sharedMemoryGb, text)).toContain('must be 0.1 to 999999 GB'),
  );

  test('accepts a count of 1 or more', () => {
    expect(accepted(count, '10')).toBe(10);
    expect(count('0').ok).toBe(false);
  });
});

describe('the port rule', () => {
  test.each([
    ['8080:80', { external_port: 8080, internal_port: 80, protocol: 'TCP' }],
    ['53:53/udp', { external_port: 53, internal_port: 53, protocol: 'UDP' }],
    [
      '8888:8888/tcp,name=web,main',
      { external_port: 8888, internal_port: 8888, protocol: 'TCP', name: 'web', is_main: true },
    ],
  ])('accepts the port mapping %s', (text, port) => {
    expect(accepted(publishedPort, text)).toEqual(port);
  });

  test.each([
    '80',
    '80:',
    ':80',
    '1:2:3',
    '0:80',
    '80:65536',
    '8:1.5',
    '80:80/sctp',
    '80:80,nam=x',
    '80:80,name=',
    '80:80,main,main',
    '80:80,name=web,name=web',
    '80:80,name=web,main,name=api',
    '80:80,',
    '',
  ])('rejects the port mapping %j', (text) => expect(publishedPort(text).ok).toBe(false));

  test.each([
    ['80', 'to publish 80 under its own number, write 80:80'],
    ['80/tcp', 'to publish 80 under its own number, write 80:80/tcp'],
    ['127.0.0.1:80:80', 'must be EXTERNAL:INTERNAL'],
    ['[::1]:80:80', 'must be EXTERNAL:INTERNAL'],
    ['8000-8010:8000-8010', 'the port must be a whole number'],
    ['80:80-90', 'the port must be a whole number'],
  ])('rejects the docker port syntax %s with a reason', (text, reason) => {
    expect(ruleBrokenBy(publishedPort, text)).toContain(reason);
  });

  test("accepts a port's protocol in upper or lower case", () => {
    expect([accepted(protocol, 'udp'), accepted(protocol, 'TCP')]).toEqual(['UDP', 'TCP']);
    expect(ruleBrokenBy(protocol, 'icmp')).toContain('tcp or udp');
  });
});

describe('rules for environment and volumes', () => {
  test.each(['A', '_a1', 'HF_TOKEN'])('accepts the variable name %s', (key) =>
    expect(accepted(environmentKey, key)).toBe(key),
  );
  test.each(['', '1A', 'A-B', 'A B', 'Ключ', 'A=B'])('rejects the variable name %j', (key) =>
    expect(environmentKey(key).ok).toBe(false),
  );

  test("keeps everything after the first = as the variable's value", () => {
    expect(accepted(environmentVariable, 'A=b=c ')).toEqual({ key: 'A', value: 'b=c ' });
    expect(accepted(environmentVariable, 'A=')).toEqual({ key: 'A', value: '' });
  });

  test('rejects a variable without a name and hides its value', () => {
    expect(ruleBrokenBy(environmentVariable, '=hunter2')).not.toContain('hunter2');
  });

  test('rejects a volume without two paths', () => {
    expect(accepted(volume, '/data:/mnt/data')).toEqual({
      host_path: '/data',
      container_path: '/mnt/data',
    });
    for (const text of ['/data', ':/mnt', '/data:', '']) {
      expect(volume(text).ok).toBe(false);
    }
  });
});

describe('money', () => {
  test('adds and prints amounts exactly', () => {
    expect(kopecksText(accepted(money, '0.1').plus(accepted(money, '0.2')))).toBe('0.30');
    const long = '123456789012345678901234567890.123456789012345678901234567891';
    expect(kopecksText(accepted(money, long))).toBe(long);
  });

  test.each([
    ['1', '1.00'],
    ['89.9', '89.90'],
    ['0.0125', '0.0125'],
    ['-5', '-5.00'],
    ['100.000', '100.00'],
  ])('prints the amount %s as %s', (text, shown) =>
    expect(kopecksText(accepted(money, text))).toBe(shown),
  );

  test.each(['', '1e5', '0x10', 'NaN', '1,5', '.5', '5.', '--1', '1 000', 'Infinity'])(
    'rejects the amount %j',
    (text) => {
      expect(money(text).ok).toBe(false);
    },
  );

  test('rejects a price limit of zero or less', () => {
    for (const text of ['0', '0.00', '-1']) expect(positiveMoney(text).ok).toBe(false);
    expect(accepted(positiveMoney, '0.01').toFixed()).toBe('0.01');
  });

  test.each([
    ['0', false],
    ['1', false],
    ['1.00', false],
    ['1.01', true],
    ['-5.00', true],
    ['-0.01', true],
    ['NaN', true],
    ['Infinity', true],
    ['1e999', true],
    ['1,00', true],
    ['free', true],
    ['', true],
    [null, true],
    [undefined, true],
  ])('compares the price %j with a limit of 1: over is %s', (price, over) => {
    expect(isOver(price, accepted(money, '1'))).toBe(over);
  });
});

test.each([
  ['notify-send  gpucloud', ['notify-send', 'gpucloud']],
  [" pass\tshow 'a b' ", ['pass', 'show', 'a b']],
  ['a"b c"d', ['ab cd']],
  ['a\\ b \\\\', ['a b', '\\']],
  [`'a\\' "b\\"c"`, ['a\\', 'b"c']],
  [`a '' ""`, ['a', '', '']],
  ["'open", "it has an unclosed '"],
  ['"open', 'it has an unclosed "'],
  ['a\\', 'it ends with a backslash'],
  ['  ', 'must not be empty'],
  ["'' a", 'must not be empty'],
])('splits the command %j', (text, words) => {
  const verdict = commandWords(text);
  expect(verdict.ok ? verdict.value : verdict.rule).toEqual(words);
});

describe('duration rules', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['3d', 259_200_000],
    ['0s', 0],
  ])('accepts and writes the duration %s', (text, milliseconds) => {
    expect(accepted(duration, text)).toBe(milliseconds);
    expect(durationWord(milliseconds)).toBe(text);
  });

  test.each([
    ['1h30m', 5_400_000],
    ['5d16h', 489_600_000],
    ['1m5ms', 60_005],
    ['90m', 5_400_000],
  ])('adds the parts of the duration %s', (text, milliseconds) => {
    expect(accepted(duration, text)).toBe(milliseconds);
  });

  test.each(['', '5', 's', '1.5h', '-1s', '1 h', '1h 30m', '1h30', 'h30m', '1h-30m', '1w', '1H'])(
    'rejects the duration %j',
    (text) => expect(ruleBrokenBy(duration, text)).toContain('15m'),
  );

  test('rejects a deadline of 0s', () => {
    expect(positiveDuration('0s').ok).toBe(false);
    expect(accepted(positiveDuration, '1s')).toBe(1000);
  });
});

describe('rules for the address and the key', () => {
  test.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/v1/', 'https://api.example.com/v1'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1:1/', 'http://127.0.0.1:1'],
    ['http://[::1]:1', 'http://[::1]:1'],
  ])('accepts the base URL %s', (text, url) => expect(accepted(baseUrl, text)).toBe(url));

  test.each([
    ['api.example.com', 'complete address'],
    ['', 'complete address'],
    ['ftp://x', 'https'],
    ['file:///etc/passwd', 'https'],
    ['http://api.example.com', 'loopback'],
    ['http://127.0.0.1.evil.com', 'loopback'],
    ['http://localhost.evil.com', 'loopback'],
    ['https://user:pw@api.example.com', 'user name'],
    ['https://user@api.example.com', 'user name'],
    ['https://api.example.com/?a=b', 'query'],
    ['https://api.example.com/#x', 'fragment'],
    ['https://api.example.com/?', 'query'],
  ])('rejects the base URL %j', (text, words) =>
    expect(ruleBrokenBy(baseUrl, text)).toContain(words),
  );

  test.each(['a\r\nX: y', 'a b', '', 'ключ', 'a\n', 'x'.repeat(1025)])(
    'rejects the API key %j',
    (text) => {
      const rule = ruleBrokenBy(apiKey, text);
      expect(rule).toContain('visible ASCII');
    },
  );

  test('accepts an API key with any prefix', () => {
    expect(accepted(apiKey, 'svc_sk_live_x')).toBe('svc_sk_live_x');
    expect(apiKey('other').ok).toBe(true);
  });
});
