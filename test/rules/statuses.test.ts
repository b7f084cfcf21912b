import { describe, expect, test } from 'vitest';
import {
  hasSsh,
  INSTANCE_STATUSES,
  isTerminated,
  leadsTo,
  mayBill,
} from '../../src/rules/statuses.ts';

describe('the status table', () => {
  test('lists every status of the API document', () => {
    expect(INSTANCE_STATUSES.join(' ')).toBe(
      'CREATING PROVISIONING INSTALLING ACTIVE STOPPING STOPPED STARTING REBOOTING TERMINATING TERMINATED ERROR',
    );
  });

  test('treats all statuses except TERMINATING and TERMINATED as billing', () => {
    expect(INSTANCE_STATUSES.filter((status) => !mayBill(status))).toEqual([
      'TERMINATING',
      'TERMINATED',
    ]);
  });

  test('treats only TERMINATED as final', () => {
    expect(INSTANCE_STATUSES.filter(isTerminated)).toEqual(['TERMINATED']);
  });

  test.each(['PAUSED', 'constructor', '', null, undefined])(
    'treats the undocumented status %j as billing, without SSH and not final',
    (status) => {
      expect(mayBill(status)).toBe(true);
      expect(isTerminated(status)).toBe(false);
      expect(hasSsh(status ?? '')).toBe(false);
      expect(leadsTo('ACTIVE', status)).toBe(false);
    },
  );

  test('lists the statuses that lead to STOPPED, TERMINATED and ACTIVE', () => {
    const to = (goal: string) => INSTANCE_STATUSES.filter((status) => leadsTo(goal, status));
    expect(to('STOPPED')).toEqual(['STOPPING', 'STOPPED']);
    expect(to('TERMINATED')).toEqual(['TERMINATING', 'TERMINATED']);
    expect(to('ACTIVE')).toEqual([
      'CREATING',
      'PROVISIONING',
      'INSTALLING',
      'ACTIVE',
      'STARTING',
      'REBOOTING',
    ]);
  });
});
