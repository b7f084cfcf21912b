import { findImage } from '../catalog/images.ts';
import { findTemplate } from '../catalog/templates.ts';
import type { Instance, State } from '../store/state.ts';
import { SECOND } from '../time.ts';
import { detach, growDrive } from './drives.ts';
import { moveTo, record } from './events.ts';
import { strikes } from './faults.ts';
import { generateSecrets, ipAddress, randomHex } from './hardware.ts';
import { addAvailable, available, enter, roubles, text } from './ledger.ts';
import { beginHour, chargeHour, closeHour, releaseReserved, reserveHour } from './rent.ts';

/** Durations of the temporary statuses on the virtual clock; the document defines none. */
export const PHASES = {
  provisioning: 3 * SECOND,
  slowProvisioning: 600 * SECOND,
  installing: 3 * SECOND,
  starting: 2 * SECOND,
  stopping: 2 * SECOND,
  terminating: 2 * SECOND,
} as const;

/** Delay between ACTIVE and a failure that was scheduled before the instance ran. */
const FAILS_AFTER = 10 * SECOND;

/** Ends a temporary status. */
export function finishPhase(state: State, instance: Instance, at: number): void {
  instance.phaseEndsAt = null;
  switch (instance.status) {
    case 'PROVISIONING':
      if (instance.failsProvisioning) {
        failProvisioning(state, instance, at);
      } else {
        receiveHardware(state, instance, at);
      }
      return;
    case 'INSTALLING':
    case 'STARTING':
      becomeActive(state, instance, at);
      return;
    case 'STOPPING':
      moveTo(instance, 'STOPPED', at);
      return;
    case 'TERMINATING':
      becomeTerminated(state, instance, at);
      return;
  }
}

function receiveHardware(state: State, instance: Instance, at: number): void {
  state.machinesMade += 1;
  const template = findTemplate(instance.templateId);
  instance.startedAt = at;
  instance.ipAddress = ipAddress(state.machinesMade);
  instance.externalId = `sandbox-${String(state.machinesMade).padStart(6, '0')}`;
  instance.secrets = generateSecrets(template);
  if (findImage(instance.imageId)?.os_type === 'windows') {
    instance.secrets.ADMINISTRATOR_PASSWORD = randomHex(20);
  }
  beginHour(instance, at);
  if (instance.sshKeys.length > 0) {
    record(instance, 'INFO', `Uploaded ${instance.sshKeys.length} SSH keys`, at);
  }
  if (template === undefined) {
    becomeActive(state, instance, at);
  } else {
    moveTo(instance, 'INSTALLING', at, { ip_address: instance.ipAddress });
    instance.phaseEndsAt = at + PHASES.installing;
  }
}

function becomeActive(state: State, instance: Instance, at: number): void {
  moveTo(instance, 'ACTIVE', at, { ip_address: instance.ipAddress });
  if (strikes(state, 'fail-running')) {
    instance.failsAt = at + FAILS_AFTER;
  }
}

function becomeTerminated(state: State, instance: Instance, at: number): void {
  detach(state, instance, at);
  instance.ipAddress = null;
  instance.secrets = {};
  instance.terminatedAt = at;
  moveTo(instance, 'TERMINATED', at);
}

function failProvisioning(state: State, instance: Instance, at: number): void {
  releaseReserved(state, instance, at);
  fall(state, instance, 'The provider could not allocate the hardware', at);
}

/**
 * Fails a running instance, and compensates the cost of this hour (API document: Transaction,
 * REFUND).
 */
export function failRunning(state: State, instance: Instance, at: number): void {
  const used = closeHour(state, instance, at);
  if (used.gt(0)) {
    addAvailable(state, used);
    enter(state, 'REFUND', used, `Compensation for instance ${instance.name}`, at);
    record(instance, 'BILLING', `Refunded ${text(used)} ₽`, at, {
      action: 'refund',
      amount: text(used),
    });
  }
  fall(state, instance, 'The server stopped responding', at);
}

function fall(state: State, instance: Instance, reason: string, at: number): void {
  instance.phaseEndsAt = null;
  instance.failsAt = null;
  instance.failureReason = reason;
  detach(state, instance, at);
  record(instance, 'ERROR', reason, at, { provider_code: 'SANDBOX_FAULT' });
  moveTo(instance, 'ERROR', at);
}

/** Ends a paid hour: charges it, then reserves the next hour or stops the instance. */
export function turnHour(state: State, instance: Instance, at: number): void {
  chargeHour(state, instance, at);
  growDrive(state, instance, at);
  if (available(state).gte(roubles(instance.price))) {
    reserveHour(state, instance, at);
    beginHour(instance, at);
    return;
  }
  record(instance, 'WARNING', 'The balance does not cover the next hour', at);
  record(instance, 'BILLING', `Could not reserve ${instance.price} ₽; stopping`, at, {
    action: 'reserve_failed',
    amount: instance.price,
  });
  beginStopping(instance, at);
}

export function beginStopping(instance: Instance, at: number): void {
  instance.failsAt = null;
  moveTo(instance, 'STOPPING', at);
  instance.phaseEndsAt = at + PHASES.stopping;
}
