import { describe, expect, test } from 'vitest';
import { parseFetch } from '../../src/jobs/files/copy-out.ts';
import { parseCopy } from '../../src/ssh/copy.ts';

describe('a Windows path', () => {
  test.each(['C:\\data', 'c:/data', 'D:file', '\\\\server\\share\\a:b', '.\\a:b'])(
    'parses %s as a local path',
    (path) => {
      const there = { instance: 'box', sources: [path], target: '/tmp', from: 'here' };
      expect(parseCopy([path, 'box:/tmp'], 'win32')).toEqual(there);
      const here = { instance: 'box', sources: ['/tmp'], target: path, from: 'instance' };
      expect(parseCopy(['box:/tmp', path], 'win32')).toEqual(here);
    },
  );

  test('parses C: as an instance name on other systems', () => {
    expect(parseCopy(['x', 'C:data'], 'linux')).toMatchObject({ instance: 'C', target: 'data' });
  });

  test('keeps a Windows drive letter in the LOCAL of --fetch', () => {
    expect(parseFetch('results:C:\\out')).toEqual({ remote: 'results', local: 'C:\\out' });
    expect(parseFetch('out/*.csv:D:\\tables')).toEqual({
      remote: 'out/*.csv',
      local: 'D:\\tables/',
    });
  });
});
