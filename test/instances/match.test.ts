import { describe, expect, test } from 'vitest';
import { match, matchInstance } from '../../src/instances/match.ts';
import type { KnownInstance } from '../../src/journal/index.ts';

const U1 = 'face0001-0000-4000-8000-000000000001';
const U2 = 'face0002-0000-4000-8000-000000000002';
const U3 = 'cafe0003-0000-4000-8000-000000000003';

type Row = { id: string; name: string; over?: true; read?: true; untracked?: true };

const known = ({ id, name, over, read, untracked }: Row): KnownInstance => ({
  id,
  name,
  origin: read ? 'read' : 'create',
  last: { id, name, status: over ? 'TERMINATED' : 'ACTIVE', version: 2, seen_at: '' },
  asked_at: '',
  deadline: undefined,
  request: null,
  archived: over === true || untracked === true,
  untracked: untracked === true,
  wasStopped: false,
});

const one = { id: U1, name: 'one' };
const face = { id: U3, name: 'face' };
const uuid = { id: U3, name: U1 };
const other = { id: U2, name: 'x' };
const two = { id: U2, name: 'one' };
const read = { ...two, read: true } as const;
const untracked = { ...two, untracked: true } as const;
const over = (row: Row): Row => ({ ...row, over: true });
const ended = over(one);

describe('matchInstance', () => {
  /** Instances, what is typed, and the IDs that a read and a change find. */
  test.each<[string, readonly Row[], string, string, readonly string[], readonly string[]]>([
    ['nothing', [one], 'two', 'nothing', [], []],
    ['a name', [one, face], 'one', 'name', [U1], [U1]],
    ['a name in another case', [one, face], 'FACE', 'name', [U3], [U3]],
    ['an ID', [one, face], U1, 'id', [U1], [U1]],
    ['an ID in capital letters', [one, face], U1.toUpperCase(), 'id', [U1], [U1]],
    ['an instance that was never read', [{ id: U1, name: U1 }], U1, 'id', [U1], [U1]],
    ['the beginning of an ID', [one, { id: U3, name: 'x' }], 'FACE', 'beginning', [U1], [U1]],
    ['a beginning that is too short', [one], 'fac', 'nothing', [], []],
    ['the beginning of two IDs', [one, other], 'face', 'beginning', [U1, U2], [U1, U2]],
    ['the beginning of two IDs, one TERMINATED', [ended, other], 'face', 'beginning', [U2], [U2]],
    ['a name that begins an ID', [one, face], 'face', 'name', [U3], [U3]],
    ['a TERMINATED name that begins an ID', [one, over(face)], 'Face', 'name', [U3], [U3]],
    ['a name like an ID', [other, uuid], U1, 'name', [U3], [U3]],
    ["one's ID and another's name", [one, uuid], U1, 'both', [U1, U3], [U1, U3]],
    ["one's ID and a TERMINATED name", [one, over(uuid)], U1, 'both', [U1, U3], [U1, U3]],
    ['two living names', [one, { id: U2, name: 'One' }], 'one', 'name', [U1, U2], [U1, U2]],
    ['a living and a TERMINATED name', [ended, two], 'one', 'name', [U2], [U2]],
    ['two TERMINATED names', [ended, over(two)], 'one', 'name', [U1, U2], [U1, U2]],
    ['a TERMINATED name only read', [over(read)], 'one', 'name', [U2], [U2]],
    ['a tracked and an untracked name', [one, untracked], 'one', 'name', [U1], [U1]],
    ['an untracked name', [untracked], 'one', 'name', [U2], [U2]],
    ['an ended own name and a living one only read', [ended, read], 'one', 'name', [U2], [U1, U2]],
    ['an ended own name and an untracked one', [ended, untracked], 'one', 'name', [U2], [U1, U2]],
    ['a living own name and one only read', [one, read], 'one', 'name', [U1, U2], [U1, U2]],
  ])('finds %s', (_what, rows, typed, by, toRead, toChange) => {
    const found = (isChange: boolean) => {
      const { by: how, fitting } = matchInstance(typed, rows.map(known), isChange);
      return { by: how, ids: fitting.map(({ id }) => id) };
    };
    expect(found(false)).toEqual({ by, ids: toRead });
    expect(found(true)).toEqual({ by, ids: toChange });
  });
});

test('lets the caller choose among jobs with the same name', () => {
  const jobs = [one, { id: U2, name: 'One' }];
  expect(match('ONE', jobs, (fitting) => fitting.slice(0, 1))).toEqual({
    by: 'name',
    fitting: [one],
  });
});
