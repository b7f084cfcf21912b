import { randomUUID } from 'node:crypto';
import type { Money } from '../../rules/money.ts';
import { badRequest, conflict, notFound } from '../refusal.ts';
import type { Drive, Instance, State } from '../store/state.ts';
import { DAY, HOUR, iso, isoOrNull, SECOND } from '../time.ts';
import { record } from './events.ts';
import { addAvailable, available, enter, payDebt, roubles, text } from './ledger.ts';

/** Roubles per GB and hour; the document has no price list. */
const PRICE_PER_GB = '0.012';
const GIB = 2 ** 30;
const SYNCING_TIME = 2 * SECOND;
/** API document: Limits, SUSPENDED drive. */
const SUSPENDED_TIME = 7 * DAY;

interface DriveWish {
  name: string;
  size_gb: number;
}

export function driveWith(state: State, id: string): Drive {
  const drive = state.drives.find((one) => one.id === id);
  // The document calls the deletion permanent (Drive status), so the drive no longer exists.
  if (drive === undefined || drive.status === 'DELETED') throw notFound(`Drive ${id} not found`);
  return drive;
}

/** Returns the drives, newest first, without deleted drives (GET /storage/drives). */
export function listDrives(state: State): Drive[] {
  return state.drives.filter((drive) => drive.status !== 'DELETED').reverse();
}

/**
 * Creates a drive (POST /storage/drives). Hourly billing begins at once, each hour charged at its
 * end.
 */
export function createDrive(state: State, wish: DriveWish, now: number): Drive {
  const drive: Drive = {
    id: randomUUID(),
    name: wish.name,
    sizeGb: wish.size_gb,
    status: 'AVAILABLE',
    usedBytes: 0,
    debt: '0.00',
    currentInstanceId: null,
    hourEndsAt: now + HOUR,
    syncEndsAt: null,
    deletesAt: null,
    lastBilledAt: now,
    paidUntil: null,
    createdAt: now,
    updatedAt: now,
  };
  state.drives.push(drive);
  return drive;
}

/** Updates a drive (PATCH /storage/drives/{id}). The price follows the size. */
export function updateDrive(state: State, id: string, wish: DriveWish, now: number): Drive {
  const drive = driveWith(state, id);
  if (drive.status !== 'AVAILABLE' && drive.status !== 'IN_USE') {
    throw badRequest(`Drive is ${drive.status}; it can be changed while AVAILABLE or IN_USE`);
  }
  if (wish.size_gb * GIB < drive.usedBytes) {
    throw badRequest(`size_gb must hold the ${drive.usedBytes} bytes that are in use`);
  }
  drive.name = wish.name;
  drive.sizeGb = wish.size_gb;
  drive.updatedAt = now;
  return drive;
}

/**
 * Resumes a drive (POST /storage/drives/{id}/resume). Charges the debt first; the balance must also
 * cover the next hour.
 */
export function resumeDrive(state: State, id: string, now: number): Drive {
  const drive = driveWith(state, id);
  if (drive.status !== 'SUSPENDED') {
    throw badRequest(`Drive is ${drive.status}; only a SUSPENDED drive can be resumed`);
  }
  const needed = roubles(drive.debt).plus(priceOf(drive));
  if (available(state).lt(needed)) {
    throw conflict(`Insufficient balance: the debt and the next hour need ${text(needed)} ₽`);
  }
  payDebt(state, drive, now);
  drive.status = 'AVAILABLE';
  drive.deletesAt = null;
  drive.updatedAt = now;
  return drive;
}

/** Mounts a free drive to a new instance. */
export function attach(drive: Drive, instance: Instance, at: number): void {
  drive.status = 'IN_USE';
  drive.currentInstanceId = instance.id;
  drive.updatedAt = at;
  record(instance, 'INFO', `Drive ${drive.name} attached`, at, { drive_id: drive.id });
}

export function driveOf(state: State, instance: Instance): Drive | undefined {
  return state.drives.find((drive) => drive.currentInstanceId === instance.id);
}

/** Releases an instance's drive. The drive is free once its files are uploaded to the storage. */
export function detach(state: State, instance: Instance, at: number): void {
  const drive = driveOf(state, instance);
  if (drive === undefined || drive.status !== 'IN_USE') return;
  drive.status = 'SYNCING';
  drive.syncEndsAt = at + SYNCING_TIME;
  drive.updatedAt = at;
  record(instance, 'INFO', `Drive ${drive.name} is being synchronised`, at, { drive_id: drive.id });
}

/** Finishes the synchronisation. Suspends the drive if it has unpaid hours from its time in use. */
export function finishSync(_state: State, drive: Drive, at: number): void {
  drive.syncEndsAt = null;
  drive.currentInstanceId = null;
  drive.status = 'AVAILABLE';
  drive.updatedAt = at;
  if (roubles(drive.debt).gt(0)) {
    suspend(drive, at);
  }
}

/** Ends a drive's hour: charges it, or adds it to the debt if the balance is too low. */
export function chargeDriveHour(state: State, drive: Drive, at: number): void {
  const price = priceOf(drive);
  drive.hourEndsAt = at + HOUR;
  if (drive.status !== 'SUSPENDED' && available(state).gte(price)) {
    addAvailable(state, price.times(-1));
    enter(state, 'USAGE_CHARGE', price, `Drive ${drive.name}`, at);
    drive.lastBilledAt = at;
    drive.paidUntil = at;
    return;
  }
  drive.debt = text(roubles(drive.debt).plus(price));
  // A mounted drive stays with its instance, and is suspended once it is released.
  if (drive.status === 'AVAILABLE') {
    suspend(drive, at);
  }
}

/** Deletes a drive after the seven days. Keeps the debt, since the hours were used. */
export function deleteDrive(_state: State, drive: Drive, at: number): void {
  drive.status = 'DELETED';
  drive.usedBytes = 0;
  drive.hourEndsAt = null;
  drive.deletesAt = null;
  drive.updatedAt = at;
}

/** Adds the 1 GiB per hour that a running instance writes. A full drive grows, and costs more. */
export function growDrive(state: State, instance: Instance, at: number): void {
  const drive = driveOf(state, instance);
  if (drive === undefined) return;
  drive.usedBytes += GIB;
  drive.updatedAt = at;
  if (drive.usedBytes > drive.sizeGb * GIB) {
    drive.sizeGb = drive.usedBytes / GIB;
    record(instance, 'INFO', `Drive ${drive.name} was raised to ${drive.sizeGb} GB`, at, {
      drive_id: drive.id,
      size_gb: drive.sizeGb,
      price_per_hour: text(priceOf(drive)),
    });
  }
}

function suspend(drive: Drive, at: number): void {
  drive.status = 'SUSPENDED';
  drive.deletesAt = at + SUSPENDED_TIME;
  drive.updatedAt = at;
}

export function priceOf(drive: Drive): Money {
  return roubles(PRICE_PER_GB).times(drive.sizeGb);
}

/** Returns a drive as the service shows it (API document: Cloud drive). */
export function driveView(drive: Drive): Record<string, unknown> {
  return {
    id: drive.id,
    name: drive.name,
    size_gb: drive.sizeGb,
    s3_path: `sandbox/drives/${drive.id}/`,
    status: drive.status,
    used_bytes: String(drive.usedBytes),
    price_per_hour: text(priceOf(drive)),
    last_billed_at: iso(drive.lastBilledAt),
    paid_until: isoOrNull(drive.paidUntil),
    current_instance_id: drive.currentInstanceId,
    created_at: iso(drive.createdAt),
    updated_at: iso(drive.updatedAt),
  };
}
