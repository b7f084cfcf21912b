import { describe, expect, test } from 'vitest';
import { nextStep } from '../../src/instances/status.ts';
import { withProfile } from '../../src/output/shell-line.ts';
import {
  GONE,
  hasSsh,
  IN_FLIGHT,
  INSTANCE_STATUSES,
  instanceStatus,
  isDocumented,
  isTerminated,
  leadsTo,
  mayBill,
  UNKNOWN,
  UNREAD,
} from '../../src/rules/statuses.ts';

const hint = (...given: Parameters<typeof nextStep>) => withProfile(nextStep(...given), undefined);

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

  test.each([
    ['CREATING', 'yes', 'yes', 'no', 'wait for it: gpucloud instances wait box'],
    ['INSTALLING', 'yes', 'yes', 'yes', 'wait for it: gpucloud instances wait box'],
    ['ACTIVE', 'yes', 'yes', 'yes', 'it is running: gpucloud instances get box'],
    ['STOPPING', 'yes', 'maybe', 'no', 'wait for it: gpucloud instances wait box --for stopped'],
    [
      'STOPPED',
      'undocumented',
      'maybe',
      'no',
      'start the instance (this bills): gpucloud instances start box --wait',
    ],
    ['TERMINATING', 'no', 'no', 'no', 'see your instances: gpucloud instances list'],
    [
      'TERMINATED',
      'no',
      'no',
      'no',
      'rent the instance again: gpucloud instances reorder box NEW-NAME',
    ],
    ['ERROR', 'undocumented', 'maybe', 'maybe', 'see what happened: gpucloud instances events box'],
  ])('states the billing, reservation, SSH and next command of %s', (status, ...facts) => {
    const { bills, reserves, ssh } = instanceStatus(status);
    expect([bills, reserves, ssh, hint(status, 'box')]).toEqual(facts);
  });

  test.each([
    ['REBOOTING', 'wait for it: gpucloud instances wait box --for ssh'],
    ['STOPPED', 'start the instance (this bills): gpucloud instances start box --wait=ssh'],
    ['STOPPING', 'wait for it: gpucloud instances wait box --for stopped'],
  ])('suggests SSH for %s if the user wants to connect', (status, line) => {
    expect(hint(status, 'box', 'ssh')).toBe(line);
  });

  test.each([GONE, UNKNOWN, IN_FLIGHT, UNREAD])(
    "treats gpucloud's own status %s as billing, and suggests the list",
    (status) => {
      expect(isDocumented(status)).toBe(false);
      expect(mayBill(status)).toBe(true);
      expect(isTerminated(status)).toBe(false);
      expect(hint(status, 'box')).toBe('see your instances: gpucloud instances list');
    },
  );

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
