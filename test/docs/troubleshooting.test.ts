import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FAILURES } from '../../src/errors.ts';

const GUIDE = readFileSync(new URL('../../docs/troubleshooting.md', import.meta.url), 'utf8');

test('describes each exit code in one section', () => {
  const chapters = [...GUIDE.matchAll(/^### ([\d, ]+):/gm)].flatMap(([, codes = '']) =>
    codes.split(', ').map(Number),
  );
  const codes = Object.values(FAILURES).map(({ exit }) => exit);
  expect(chapters).toEqual(codes.sort((a, b) => a - b));
});
