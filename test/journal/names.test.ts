import { expect, test } from 'vitest';
import { fileName, nameIn, serviceFolder } from '../../src/journal/files.ts';
import { fc } from '../support/random.ts';

const LETTERS = [...'aAzZ09._-~+%/\\: äЖ漢😀'];

test('keeps a common name as the file name', () => {
  expect(fileName('trainer-2')).toBe('trainer-2');
  expect(fileName('api.example.com')).toBe('api.example.com');
});

test('gives each name a different file name, and restores the name', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 12 }), (text) => {
      const name = fileName(text);
      expect(name).toMatch(/^[a-z0-9._%-]*$/);
      expect(nameIn(name)).toBe(text);
    }),
  );
  expect(fileName('Trainer')).not.toBe(fileName('trainer'));
});

test.each(['..', '.', 'a/b', 'con', 'a~b', 'a+b', 'a.', 'ä'])(
  'turns %s into a safe file name',
  (text) => {
    const name = fileName(text);
    expect(name).not.toMatch(/^\.|[/~+]|\.$|^con$/);
    expect(nameIn(name)).toBe(text);
  },
);

test('shortens long names to different file names', () => {
  const [one, other] = ['a', 'b'].map((end) => fileName(`${'Ж'.repeat(300)}${end}`));
  expect(one).not.toBe(other);
  expect(one?.length).toBeLessThan(200);
});

test('names a service folder after scheme, host, port and path', () => {
  const services = [
    'sandbox',
    'https://sandbox',
    'https://api.example.com',
    'https://api.example.com/v1',
    'https://api.example.com:8443',
    'http://127.0.0.1:8080',
    'https://127.0.0.1:8080',
  ];
  const folders = services.map(serviceFolder);
  expect(new Set(folders).size).toBe(services.length);
  expect(folders[2]).toBe('api.example.com');
  expect(folders[5]).toBe('http@127.0.0.1%3a8080');
});
