import * as z from 'zod/mini';
import { apiKey } from './api-key.ts';
import { transaction } from './billing.ts';
import { drive } from './drive.ts';
import { instanceEvent } from './instance.ts';
import { sshKey } from './ssh-key.ts';
import { template } from './template.ts';

/** The lists of the document (API document: Endpoints). */
export const apiKeys = z.array(apiKey);
export const drives = z.array(drive);
export const instanceEvents = z.array(instanceEvent);
export const sshKeys = z.array(sshKey);
export const templates = z.array(template);
export const transactions = z.array(transaction);
