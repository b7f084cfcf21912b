import { randomUUID } from 'node:crypto';
import type { Money } from '../../rules/money.ts';
import { findImage } from '../catalog/images.ts';
import { findOffer, type PricedOffer } from '../catalog/offers.ts';
import { findTemplate } from '../catalog/templates.ts';
import { badRequest, conflict, notFound, providerFailure } from '../refusal.ts';
import type { DockerConfig } from '../store/docker-config.ts';
import type { Drive, Instance, SshKey, State } from '../store/state.ts';
import { attach } from './drives.ts';
import { moveTo, record } from './events.ts';
import { strikes } from './faults.ts';
import { roubles, spendable, text } from './ledger.ts';
import { beginStopping, PHASES } from './lifecycle.ts';
import { beginHour, closeHour, releaseReserved, reserveHour } from './rent.ts';

/** The body of POST /instances. */
interface InstanceWish {
  offer_id: string;
  image_id: string;
  instance_name: string;
  ssh_keys?: string[] | undefined;
  template_id?: string | undefined;
  storage_drive_id?: string | undefined;
  docker_config?: DockerConfig | undefined;
}

export function instanceWith(state: State, id: string): Instance {
  const instance = state.instances.find((one) => one.id === id);
  if (instance === undefined) throw notFound(`Instance ${id} not found`);
  return instance;
}

/** Creates an instance (POST /instances). Runs all checks before any change. */
export function createInstance(state: State, wish: InstanceWish, now: number): Instance {
  const offer = offerFor(wish.offer_id);
  checkImage(wish);
  if (wish.template_id !== undefined && findTemplate(wish.template_id)?.is_active !== true) {
    throw badRequest(`Template ${wish.template_id} not found or not available`);
  }
  const sshKeys = keysFor(state, wish.ssh_keys);
  const drive = freeDrive(state, wish.storage_drive_id);
  checkName(state, wish.instance_name);
  checkFunds(state, roubles(offer.price_per_hour));

  const { instance_name: name, image_id: imageId } = wish;
  const instance = order(state, offer, { name, imageId, sshKeys }, now);
  instance.templateId = wish.template_id ?? null;
  instance.dockerConfig = wish.docker_config ?? null;
  if (drive !== undefined) attach(drive, instance, now);
  return instance;
}

/**
 * Re-orders an instance (POST /instances/{id}/reorder). Copies only the offer, image and SSH keys
 * of the source.
 */
export function reorderInstance(state: State, id: string, newName: string, now: number): Instance {
  const source = instanceWith(state, id);
  if (source.status !== 'TERMINATED') {
    throw badRequest(`Instance is ${source.status}; only a TERMINATED one can be re-ordered`);
  }
  const offer = offerFor(source.offerId);
  checkName(state, newName);
  checkFunds(state, roubles(offer.price_per_hour));
  const sshKeys = source.sshKeys.flatMap((key) => state.sshKeys.filter((one) => one.id === key.id));
  return order(state, offer, { name: newName, imageId: source.imageId, sshKeys }, now);
}

/** Starts an instance (POST /instances/{id}/start). Reserves the next hour, starting now. */
export function startInstance(state: State, id: string, now: number): Instance {
  const instance = instanceWith(state, id);
  if (instance.status !== 'STOPPED') {
    throw badRequest(`Instance is ${instance.status}; only a STOPPED instance can be started`);
  }
  const funds = spendable(state);
  if (funds.lte(0)) {
    throw badRequest(`Instance is ${instance.status}; the balance is insufficient to start it`);
  }
  checkFunds(state, roubles(instance.price));
  reserveHour(state, instance, now);
  moveTo(instance, 'STARTING', now);
  if (strikes(state, 'fail-start')) {
    record(instance, 'ERROR', 'The provider could not process the start', now);
    releaseReserved(state, instance, now);
    moveTo(instance, 'STOPPED', now);
    throw providerFailure(
      'The provider could not process the start; the reserved funds were returned to the balance',
    );
  }
  beginHour(instance, now);
  instance.phaseEndsAt = now + PHASES.starting;
  return instance;
}

/** Stops an instance (POST /instances/{id}/stop). Its hour ends when the provider accepts. */
export function stopInstance(state: State, id: string, now: number): Instance {
  const instance = instanceWith(state, id);
  if (instance.status !== 'ACTIVE') {
    throw badRequest(`Instance is ${instance.status}; only an ACTIVE instance can be stopped`);
  }
  if (strikes(state, 'fail-stop')) {
    moveTo(instance, 'STOPPING', now);
    record(instance, 'ERROR', 'The provider could not stop the instance', now);
    moveTo(instance, 'ACTIVE', now);
    throw providerFailure('The provider could not stop the instance; it is ACTIVE again');
  }
  closeHour(state, instance, now);
  beginStopping(instance, now);
  return instance;
}

/**
 * Terminates an instance with any status except TERMINATING and TERMINATED (POST
 * /instances/{id}/terminate).
 */
export function terminateInstance(state: State, id: string, now: number): Instance {
  const instance = instanceWith(state, id);
  const before = instance.status;
  if (before === 'TERMINATED' || before === 'TERMINATING') {
    throw badRequest(`Instance is already ${before}`);
  }
  if (strikes(state, 'fail-terminate')) {
    moveTo(instance, 'TERMINATING', now);
    record(instance, 'ERROR', 'The provider could not delete the instance', now);
    moveTo(instance, before, now);
    throw providerFailure(
      `The provider could not delete the instance; it is ${before} again and the call can be repeated`,
    );
  }
  closeHour(state, instance, now);
  instance.failsAt = null;
  moveTo(instance, 'TERMINATING', now);
  instance.phaseEndsAt = now + PHASES.terminating;
  return instance;
}

/** Stores the instance, reserves the first hour and requests hardware from the provider. */
function order(
  state: State,
  offer: PricedOffer,
  { name, imageId, sshKeys }: Pick<Instance, 'name' | 'imageId' | 'sshKeys'>,
  now: number,
): Instance {
  const instance: Instance = {
    id: randomUUID(),
    name,
    status: 'CREATING',
    offerId: offer.id,
    imageId,
    templateId: null,
    dockerConfig: null,
    sshKeys: structuredClone(sshKeys),
    price: offer.price_per_hour,
    reserved: '0.00',
    hourEndsAt: null,
    phaseEndsAt: null,
    failsProvisioning: strikes(state, 'fail-provisioning'),
    failsAt: null,
    failureReason: null,
    ipAddress: null,
    externalId: null,
    secrets: {},
    paidUntil: null,
    lastBilledAt: null,
    startedAt: null,
    terminatedAt: null,
    createdAt: now,
    updatedAt: now,
    events: [],
  };
  state.instances.push(instance);
  reserveHour(state, instance, now);
  record(instance, 'INFO', 'Request sent to the provider', now);
  moveTo(instance, 'PROVISIONING', now);
  const slow = strikes(state, 'slow-provisioning');
  instance.phaseEndsAt = now + (slow ? PHASES.slowProvisioning : PHASES.provisioning);
  if (slow) {
    record(instance, 'WARNING', 'The provider is slow to allocate the hardware', now);
  }
  return instance;
}

function offerFor(id: string): PricedOffer {
  const offer = findOffer(id);
  if (offer === undefined) throw badRequest(`Offer ${id} not found`);
  if (!offer.in_stock) throw conflict(`Offer ${offer.name} is out of stock`);
  return offer;
}

function checkImage(wish: InstanceWish): void {
  const image = findImage(wish.image_id);
  if (image === undefined) throw badRequest(`Image ${wish.image_id} not found`);
  const container = wish.template_id !== undefined || wish.docker_config !== undefined;
  if (container && !image.supports_docker) {
    throw badRequest(`Image ${image.name} does not support containers`);
  }
}

/**
 * Returns the named keys, without duplicates; without the field, the default key (API document: SSH
 * key).
 */
function keysFor(state: State, ids: readonly string[] | undefined): SshKey[] {
  if (ids === undefined) return state.sshKeys.filter((key) => key.isDefault);
  return [...new Set(ids)].map((id) => {
    const key = state.sshKeys.find((one) => one.id === id);
    if (key === undefined) throw badRequest(`SSH key ${id} not found`);
    return key;
  });
}

function freeDrive(state: State, id: string | undefined): Drive | undefined {
  if (id === undefined) return undefined;
  const drive = state.drives.find((one) => one.id === id && one.status !== 'DELETED');
  if (drive === undefined) throw badRequest(`Drive ${id} not found`);
  if (drive.status !== 'AVAILABLE') {
    throw conflict(`Drive ${drive.name} is ${drive.status}; only an AVAILABLE one can be attached`);
  }
  return drive;
}

function checkName(state: State, name: string): void {
  if (state.instances.some((one) => one.name === name && one.status !== 'TERMINATED')) {
    throw conflict(`An instance named ${name} already exists`);
  }
}

function checkFunds(state: State, price: Money): void {
  if (spendable(state).lt(price)) {
    throw conflict(`Insufficient balance: the next hour costs ${text(price)} ₽`);
  }
}
