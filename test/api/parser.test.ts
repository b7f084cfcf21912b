import { expect, test } from 'vitest';
import { parserCompiler } from '../../src/api/http/parser.ts';

test.each([
  ['v22.1.0', 1],
  ['v20.20.2', 1],
  [undefined, 0],
])('compiles the parser of Node %s once, and none in the executable', (version, times) => {
  let read = 0;
  const compile = parserCompiler(version, () => {
    read += 1;
    // The shortest program.
    return Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  });
  compile();
  compile();
  expect(read).toBe(times);
});
