import { array } from '../../schema/schema.ts';
import { apiKey } from './api-key.ts';
import { transaction } from './billing.ts';
import { drive } from './drive.ts';
import { instanceEvent } from './instance.ts';
import { sshKey } from './ssh-key.ts';
import { template } from './template.ts';

/** The lists of the document (API document: Endpoints). */
export const apiKeys = array(apiKey);
export const drives = array(drive);
export const instanceEvents = array(instanceEvent);
export const sshKeys = array(sshKey);
export const templates = array(template);
export const transactions = array(transaction);
