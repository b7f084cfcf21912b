import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseFetch } from '../../src/jobs/files/copy-out.ts';
import { matcherOf } from '../../src/jobs/files/pattern.ts';
import { WORK } from '../../src/jobs/remote/supervisor.ts';
import { needs } from '../support/needs.ts';
import {
  base,
  faultOf,
  fetchFile,
  fetchFrom,
  inFetchWorld,
  lacks,
  link,
  local,
  treeOf,
} from './fetch-world.ts';
import { rawTar } from './raw-tar.ts';

const SHELLS = [['sh'], ['bash', '--posix'], ['busybox', 'sh']];

const there = (...names: string[]) => join(base, WORK, ...names);

describe('a pattern of --fetch', () => {
  inFetchWorld();

  test.each(SHELLS)(
    'fetches matches into the folder with the shell %s',
    needs('busybox'),
    async (...sh) => {
      for (const name of [
        'a.csv',
        "it's b.csv",
        'two\nlines.csv',
        '-n.csv',
        '.hidden.csv',
        'c.txt',
      ]) {
        await writeFile(there('results', name), name);
      }
      await mkdir(there('results', 'folder.csv'));
      await writeFile(there('results', 'folder.csv', 'inside'), 'x');
      await symlink('c.txt', there('results', 'link.csv'));
      await writeFile(join(local, 'own'), 'stays');
      await fetchFile('results/*.csv', `${local}/`, base, undefined, sh);
      expect(await treeOf(local)).toEqual({
        'a.csv': 'a.csv',
        "it's b.csv": "it's b.csv",
        'two\nlines.csv': 'two\nlines.csv',
        '-n.csv': '-n.csv',
        'folder.csv/': '',
        'folder.csv/inside': 'x',
        'link.csv': 'c.txt',
        own: 'stays',
      });
      expect(lacks).toEqual([]);
    },
  );

  test('matches folder names and absolute paths with a --fetch pattern', async () => {
    for (const name of ['one', 'two']) {
      await mkdir(there(name));
      await writeFile(there(name, `${name}.json`), name);
    }
    await fetchFile('???/*.json', `${local}/`);
    await fetchFile(`${there('tw?')}/t*`, `${local}/`);
    expect(await treeOf(local)).toEqual({ 'one.json': 'one', 'two.json': 'two' });
  });

  test('matches a file whose name equals the pattern', async () => {
    await writeFile(there('a*.txt'), 'x');
    await fetchFile('a*.txt', `${local}/`);
    expect(await treeOf(local)).toEqual({ 'a*.txt': 'x' });
  });

  test('rejects a pattern with notFound if nothing matches', async () => {
    const fault = await faultOf(fetchFile('results/*.csv', `${local}/`));
    expect(fault.failure).toBe('notFound');
    expect(fault.message).toContain('results/*.csv matches nothing on the instance');
  });

  test('rejects a pattern whose matches have the same name', async () => {
    for (const name of ['one', 'two']) {
      await mkdir(there(name));
      await writeFile(there(name, 'm.json'), name);
    }
    const fault = await faultOf(fetchFile('*/m.json', `${local}/`));
    expect(fault.message).toContain('*/m.json matches several files with the same name');
    expect(await treeOf(local)).toEqual({});
  });

  test.each([
    ['another name', { name: 'Makefile' }],
    ['a hidden name', { name: '.csv' }],
    ['a folder', { name: './.git/hooks/post.csv' }],
    ['a link', link('.bashrc', 'a.csv')],
    ['a path out of the folder', { name: '../a.csv' }],
  ])('rejects an archive with %s besides the match', async (_what, entry) => {
    await writeFile(there('a.csv'), 'x');
    const archive = rawTar([{ name: 'a.csv', content: 'x' }, entry]);
    const fault = await faultOf(fetchFrom(archive, '', '*.csv'));
    expect(fault.message).toMatch(/which (does not match|is not a path)/);
    expect(await treeOf(local)).toEqual({});
  });
});

test.each([
  ['*', ['a', 'a.b'], ['.a']],
  ['a*c', ['ac', 'abc', 'a\nc'], ['abcd', 'bac']],
  ['?.txt', ['a.txt'], ['.txt', 'ab.txt', '..txt']],
  ['??', ['é', 'ab'], ['a', 'éé']],
  ['a+(b).*', ['a+(b).c'], ['aab.c']],
  ['a]^${}|*', ['a]^${}|b'], ['a']],
])('matches the pattern %j as sh does', (pattern, fitting, others) => {
  const fits = matcherOf(`results/${pattern}`);
  expect(fitting.filter((name) => !fits(name))).toEqual([]);
  expect(others.filter(fits)).toEqual([]);
});

describe('a pattern on the command line', () => {
  test.each([
    ['*.csv', '*.csv', './'],
    ['out/*/:tables', 'out/*', 'tables/'],
    ['/var/log/?:a/', '/var/log/?', 'a/'],
    ['out/log//', 'out/log', 'log'],
    ['a:b:c', 'a', 'b:c'],
  ])('parses %s, with a folder as LOCAL of a pattern', (text, remote, folder) => {
    expect(parseFetch(text)).toEqual({ remote, local: folder });
  });

  test.each(['', '.', '..', '/', 'out/.', 'a/..:b', 'a\0b'])(
    'rejects %j, which names no file',
    (text) => {
      expect(() => parseFetch(text)).toThrow(`--fetch "${text}": must be REMOTE[:LOCAL]`);
    },
  );

  test.each(['a\\*', '[0-9].pt', '*[!a]', 'a[1].txt'])('rejects the path %s', (text) => {
    expect(() => parseFetch(text)).toThrow('a pattern may contain only * and ?');
  });

  test.each([
    ['runs/*/metrics.json', 'runs'],
    ['/var/a/b?/c*/log.txt:logs', '/var/a'],
    ['*/m.json', "'*'"],
    ['/*/x', "'/*'"],
  ])('rejects the pattern %s and suggests fetching the folder', (text, folder) => {
    const refused = () => parseFetch(text);
    expect(refused).toThrow('all matches have the same name');
    expect(refused).toThrow(
      expect.objectContaining({ hint: `fetch the folders: --fetch ${folder}` }),
    );
  });
});
