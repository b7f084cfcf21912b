import { money } from '../../rules/money.ts';
import { INSTANCE_STATUSES } from '../../rules/statuses.ts';
import {
  array,
  boolean,
  literal,
  minimum,
  nullable,
  number,
  optional,
  type output,
  record,
  strictObject,
  string,
  unknown,
  enum as within,
} from '../../zod.ts';
import { follows } from '../field.ts';
import { dockerConfig } from './docker-config.ts';

/** API document: Transaction. */
export const TRANSACTION_TYPES = ['DEPOSIT', 'USAGE_CHARGE', 'BONUS', 'REFUND'] as const;

export const FAULT_NAMES = [
  'fail-start',
  'fail-stop',
  'fail-terminate',
  'slow-provisioning',
  'fail-provisioning',
  'fail-running',
] as const;

const decimal = string().check(follows(money));
const moment = number();

const event = strictObject({
  id: string(),
  type: within(['INFO', 'WARNING', 'ERROR', 'STATUS_CHANGE', 'BILLING']),
  message: string(),
  payload: nullable(record(string(), unknown())),
  at: moment,
});

const sshKey = strictObject({
  id: string(),
  name: string(),
  publicKey: string(),
  fingerprint: string(),
  isDefault: boolean(),
  createdAt: moment,
  updatedAt: moment,
});

const instance = strictObject({
  id: string(),
  name: string(),
  status: within(INSTANCE_STATUSES),
  offerId: string(),
  imageId: string(),
  templateId: nullable(string()),
  dockerConfig: nullable(dockerConfig),
  /** Copies of the keys, since an instance keeps a key that is deleted later. */
  sshKeys: array(sshKey),
  price: decimal,
  /** Funds held for the current or next hour; zero if no hour is paid. */
  reserved: decimal,
  /** When the running hour is charged; null while no hour runs. */
  hourEndsAt: nullable(moment),
  /** When a temporary status ends; null for a permanent one. */
  phaseEndsAt: nullable(moment),
  failsProvisioning: boolean(),
  /** When a scheduled failure of the running instance happens. */
  failsAt: nullable(moment),
  failureReason: nullable(string()),
  ipAddress: nullable(string()),
  externalId: nullable(string()),
  secrets: record(string(), string()),
  paidUntil: nullable(moment),
  lastBilledAt: nullable(moment),
  startedAt: nullable(moment),
  terminatedAt: nullable(moment),
  createdAt: moment,
  updatedAt: moment,
  /** Oldest first. */
  events: array(event),
});

const drive = strictObject({
  id: string(),
  name: string(),
  sizeGb: number(),
  status: within(['AVAILABLE', 'IN_USE', 'SYNCING', 'DELETING', 'DELETED', 'SUSPENDED', 'ERROR']),
  usedBytes: number(),
  /** Unpaid hours, charged at the next top-up or resume. */
  debt: decimal,
  currentInstanceId: nullable(string()),
  /** When the running hour is charged; null once the drive is deleted. */
  hourEndsAt: nullable(moment),
  syncEndsAt: nullable(moment),
  deletesAt: nullable(moment),
  lastBilledAt: moment,
  paidUntil: nullable(moment),
  createdAt: moment,
  updatedAt: moment,
});

const transaction = strictObject({
  id: string(),
  type: within(TRANSACTION_TYPES),
  amount: decimal,
  description: string(),
  at: moment,
});

const apiKey = strictObject({
  id: string(),
  name: string(),
  prefix: string(),
  /** SHA-256 of the token in hex; the token itself is not stored. */
  hash: string(),
  isActive: boolean(),
  expiresAt: nullable(moment),
  lastUsedAt: nullable(moment),
  createdAt: moment,
  updatedAt: moment,
});

/** State file schema. Lists are in order of creation, oldest first. */
export const stateSchema = strictObject({
  version: literal(1),
  clock: strictObject({
    realAnchor: moment,
    virtualAnchor: moment,
    speed: number().check(minimum(0)),
  }),
  account: strictObject({
    id: string(),
    name: nullable(string()),
    passwordHash: string(),
    available: decimal,
    promoCodes: array(string()),
    createdAt: moment,
    updatedAt: moment,
  }),
  apiKeys: array(apiKey),
  /** The whole token of the built-in key; undefined in a file of an earlier version. */
  builtInToken: optional(string()),
  sshKeys: array(sshKey),
  instances: array(instance),
  drives: array(drive),
  transactions: array(transaction),
  faults: array(within(FAULT_NAMES)),
  /** How many instances ever got hardware. Determines an instance's address and provider ID. */
  machinesMade: number(),
});

export type State = output<typeof stateSchema>;
export type Instance = State['instances'][number];
export type InstanceEvent = Instance['events'][number];
export type InstanceStatus = Instance['status'];
export type Drive = State['drives'][number];
export type DriveStatus = Drive['status'];
export type SshKey = State['sshKeys'][number];
export type ApiKey = State['apiKeys'][number];
export type Transaction = State['transactions'][number];
export type TransactionType = Transaction['type'];
/** A failure that the sandbox can cause. */
export type Fault = (typeof FAULT_NAMES)[number];
