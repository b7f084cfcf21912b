import {
  apiKey,
  instanceSshKey,
  promoBonus,
  sshKey,
  transaction,
  user,
} from '../api/schemas/account.ts';
import { drive } from '../api/schemas/drive.ts';
import type { Schema } from '../api/schemas/fields.ts';
import { baseImage, instanceEvent, offer } from '../api/schemas/instance.ts';
import { createInstanceBody } from '../api/schemas/instance-body.ts';
import { template } from '../api/schemas/template.ts';
import * as z from '../zod.ts';
import * as instances from './instances.ts';
import * as jobs from './jobs.ts';
import * as local from './local.ts';
import * as money from './money.ts';

type Any = Schema<unknown>;

/** Every shape in a result, by its name in `$defs` of schemas/results.json. */
export const SHAPES = {
  ApiKey: apiKey,
  AuditCheck: money.auditCheck,
  BaseImage: baseImage,
  Burn: money.burn,
  CatalogEntry: local.catalogEntry,
  ChangedInstance: instances.changedInstance,
  Command: local.commandReference,
  CommandTree: local.commandTree,
  CommandWords: instances.commandWords,
  CompletionScript: local.completionScript,
  CreatedInstance: instances.createdInstance,
  CreateInstanceBody: createInstanceBody,
  DoctorReport: local.doctorReport,
  Drive: drive,
  Endpoint: instances.endpoint,
  Enforcement: instances.enforcement,
  Flag: local.flagReference,
  HereReport: jobs.hereReport,
  Instance: instances.shownInstance,
  InstanceEvent: instanceEvent,
  InstanceSpending: money.instanceSpending,
  InstanceSshKey: instanceSshKey,
  InventoryRow: instances.inventoryRow,
  Job: jobs.jobRow,
  JobDetails: jobs.jobDetails,
  JobPlan: instances.jobPlan,
  JobReport: jobs.jobReport,
  Link: instances.link,
  ListedInstance: instances.listedInstance,
  Offer: offer,
  Overview: money.overview,
  Plan: instances.plan,
  Profile: local.profile,
  PromoBonus: promoBonus,
  Reaped: instances.reaped,
  ReapPlan: instances.reapPlan,
  RescuedPath: instances.rescuedPath,
  Recovered: instances.recovered,
  Runway: money.runway,
  SandboxCatalog: local.sandboxCatalog,
  SandboxStatus: local.sandboxStatus,
  Secret: instances.secret,
  ServedSandbox: local.servedSandbox,
  Spending: money.spending,
  SshHost: instances.sshHost,
  SshKey: sshKey,
  StartedJob: instances.startedJob,
  Template: template,
  TopRow: instances.topRow,
  TourStep: local.tourStep,
  Transaction: transaction,
  Tunnel: instances.openTunnel,
  User: user,
} satisfies Record<string, Any>;

type Shape = keyof typeof SHAPES;

/** A result and its name in `$defs`. */
interface Result {
  readonly name: string;
  readonly schema: Any;
}

function one(name: Shape): Result {
  return { name, schema: SHAPES[name] };
}

const listOf =
  (shape: Any): Any =>
  () =>
    z.array(shape());

function list(name: Shape): Result {
  return { name: `${name}List`, schema: listOf(SHAPES[name]) };
}

/** An object for one name; an array for several, or for `-`. */
function oneOrList(name: Shape): Result {
  return either(`${name}OrList`, SHAPES[name], listOf(SHAPES[name]));
}

function either(name: string, ...forms: readonly Any[]): Result {
  return { name, schema: () => z.union(forms.map((form) => form())) };
}

/**
 * Each command's JSON, by the command's words. A command without an entry prints text, or the
 * service's response.
 */
export const RESULTS: Readonly<Record<string, Result>> = {
  run: either('RunResult', SHAPES.JobPlan, SHAPES.StartedJob),
  'jobs list': list('Job'),
  'jobs get': one('JobDetails'),
  'instances list': list('ListedInstance'),
  'instances get': oneOrList('Instance'),
  'instances create': either(
    'CreateResult',
    SHAPES.CreatedInstance,
    SHAPES.Plan,
    // With --count.
    listOf(() => z.union([SHAPES.CreatedInstance(), SHAPES.Plan()])),
  ),
  'instances reorder': one('Instance'),
  'instances start': oneOrList('ChangedInstance'),
  'instances stop': oneOrList('ChangedInstance'),
  'instances terminate': oneOrList('ChangedInstance'),
  'instances wait': oneOrList('ChangedInstance'),
  'instances expire': oneOrList('ChangedInstance'),
  'instances track': oneOrList('ChangedInstance'),
  'instances untrack': oneOrList('ChangedInstance'),
  'instances events': list('InstanceEvent'),
  'instances recover': list('Recovered'),
  'instances reap': either('ReapResult', listOf(SHAPES.Reaped), SHAPES.Enforcement),
  'instances rescue': list('RescuedPath'),
  'instances top': oneOrList('TopRow'),
  'instances ssh': one('CommandWords'),
  'instances scp': one('CommandWords'),
  'instances tunnel': either('TunnelResult', SHAPES.CommandWords, SHAPES.Tunnel),
  'instances ssh-config': list('SshHost'),
  'instances inventory': list('InventoryRow'),
  'instances endpoints': list('Endpoint'),
  'instances secrets': oneOrList('Secret'),
  'instances open': one('Link'),
  'drives list': list('Drive'),
  'drives get': oneOrList('Drive'),
  'drives create': one('Drive'),
  'drives update': one('Drive'),
  'drives resume': oneOrList('Drive'),
  'ssh-keys list': list('SshKey'),
  'ssh-keys get': oneOrList('SshKey'),
  'ssh-keys add': one('SshKey'),
  'ssh-keys delete': oneOrList('SshKey'),
  'api-keys list': list('ApiKey'),
  'api-keys create': one('ApiKey'),
  'templates list': list('Template'),
  'templates get': oneOrList('Template'),
  'me get': one('User'),
  'me update': one('User'),
  'me set-password': one('User'),
  status: one('Overview'),
  audit: list('AuditCheck'),
  'billing balance': one('User'),
  'billing transactions': list('Transaction'),
  'billing promo': one('PromoBonus'),
  'billing spend': either(
    'SpendResult',
    listOf(SHAPES.Spending),
    // With --by instance.
    listOf(SHAPES.InstanceSpending),
  ),
  'billing runway': one('Runway'),
  'catalog list': list('CatalogEntry'),
  'catalog add': one('CatalogEntry'),
  'catalog remove': one('CatalogEntry'),
  'profiles list': list('Profile'),
  'profiles get': one('Profile'),
  'profiles use': one('Profile'),
  'profiles add': one('Profile'),
  'profiles set': one('Profile'),
  'profiles move': one('Profile'),
  'profiles remove': one('Profile'),
  login: one('Profile'),
  logout: one('Profile'),
  'sandbox tour': list('TourStep'),
  'sandbox catalog': one('SandboxCatalog'),
  'sandbox status': one('SandboxStatus'),
  'sandbox advance': one('SandboxStatus'),
  'sandbox deposit': one('SandboxStatus'),
  'sandbox fault': one('SandboxStatus'),
  'sandbox gpu': one('SandboxStatus'),
  'sandbox rogue': one('SandboxStatus'),
  'sandbox reset': one('SandboxStatus'),
  'sandbox serve': one('ServedSandbox'),
  doctor: one('DoctorReport'),
  commands: one('CommandTree'),
  completion: one('CompletionScript'),
};

/** Returns where in the package the JSON Schema of a command's result is. */
export function resultSchemaOf(words: readonly string[]): string | null {
  const command = words.join(' ');
  return Object.hasOwn(RESULTS, command)
    ? `schemas/results.json#/$defs/${RESULTS[command]?.name}`
    : null;
}
