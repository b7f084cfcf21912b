import { apiKey, promoBonus, sshKey, transaction, user } from '../api/schemas/account.ts';
import { drive } from '../api/schemas/drive.ts';
import type { Schema } from '../api/schemas/fields.ts';
import { instanceEvent } from '../api/schemas/instance.ts';
import { template } from '../api/schemas/template.ts';
import * as z from '../zod.ts';
import * as instances from './instances.ts';
import * as jobs from './jobs.ts';
import * as local from './local.ts';
import * as money from './money.ts';

type Any = Schema<unknown>;

const list = (row: Any) => () => z.array(row());
/** An object for one name; an array for several, or for `-`. */
const named = (row: Any) => () => z.union([row(), z.array(row())]);
const either =
  (...forms: Any[]) =>
  () =>
    z.union(forms.map((form) => form()));

/**
 * Each command's JSON, by the command's words. A command without an entry prints text, or the
 * service's response. schemas/results/ is generated from these schemas.
 */
export const RESULTS: Readonly<Record<string, Any>> = {
  run: either(instances.jobPlan, instances.startedJob),
  'jobs list': list(jobs.jobRow),
  'jobs get': jobs.jobDetails,
  'instances list': list(instances.listedInstance),
  'instances get': named(instances.shownInstance),
  'instances create': either(
    instances.createdInstance,
    instances.plan,
    // With --count.
    list(either(instances.createdInstance, instances.plan)),
  ),
  'instances reorder': instances.shownInstance,
  'instances start': named(instances.changedInstance),
  'instances stop': named(instances.changedInstance),
  'instances terminate': named(instances.changedInstance),
  'instances wait': named(instances.changedInstance),
  'instances expire': named(instances.changedInstance),
  'instances track': named(instances.changedInstance),
  'instances untrack': named(instances.changedInstance),
  'instances events': list(instanceEvent),
  'instances recover': list(instances.recovered),
  'instances reap': either(list(instances.reaped), instances.enforcement),
  'instances top': named(instances.topRow),
  'instances ssh': instances.commandWords,
  'instances scp': instances.commandWords,
  'instances tunnel': either(instances.commandWords, instances.openTunnel),
  'instances ssh-config': list(instances.sshHost),
  'instances inventory': list(instances.inventoryRow),
  'instances endpoints': list(instances.endpoint),
  'instances secrets': either(list(instances.secret), instances.secret),
  'instances open': instances.link,
  'drives list': list(drive),
  'drives get': named(drive),
  'drives create': drive,
  'drives update': drive,
  'drives resume': named(drive),
  'ssh-keys list': list(sshKey),
  'ssh-keys get': named(sshKey),
  'ssh-keys add': sshKey,
  'ssh-keys delete': named(sshKey),
  'api-keys list': list(apiKey),
  'api-keys create': apiKey,
  'templates list': list(template),
  'templates get': named(template),
  'me get': user,
  'me update': user,
  'me set-password': user,
  status: money.overview,
  audit: list(money.auditCheck),
  'billing balance': user,
  'billing transactions': list(transaction),
  'billing promo': promoBonus,
  'billing spend': list(money.spending),
  'billing runway': money.runway,
  'catalog list': list(local.catalogEntry),
  'catalog add': local.catalogEntry,
  'catalog remove': local.catalogEntry,
  'profiles list': list(local.profile),
  'profiles get': local.profile,
  'profiles use': local.profile,
  'profiles add': local.profile,
  'profiles set': local.profile,
  'profiles move': local.profile,
  'profiles remove': local.profile,
  login: local.profile,
  logout: local.profile,
  'sandbox tour': list(local.tourStep),
  'sandbox catalog': local.sandboxCatalog,
  'sandbox status': local.sandboxStatus,
  'sandbox advance': local.sandboxStatus,
  'sandbox deposit': local.sandboxStatus,
  'sandbox fault': local.sandboxStatus,
  'sandbox gpu': local.sandboxStatus,
  'sandbox rogue': local.sandboxStatus,
  'sandbox reset': local.sandboxStatus,
  'sandbox serve': local.servedSandbox,
  doctor: local.doctorReport,
  commands: local.commandTree,
  completion: local.completionScript,
};

/** Returns the package's path to the JSON Schema of a command's result. */
export function resultSchemaOf(words: readonly string[]): string | null {
  return Object.hasOwn(RESULTS, words.join(' '))
    ? `schemas/results/${words.join('-')}.schema.json`
    : null;
}
