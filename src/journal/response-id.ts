import { fieldOf } from '../api/open-fields.ts';
import { idKey, resourceId } from '../rules/names.ts';

export interface ResponseId {
  readonly id: string;
  readonly name: string | undefined;
}

/**
 * Allows only plain values and the envelope before the ID, since a nested ID is an offer's or
 * image's.
 */
const AT_THE_FRONT =
  /^\s*\{(?:[^{}[\]]*"data"\s*:\s*\{)?[^{}[\]]*?"id"\s*:\s*"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/i;

/**
 * Returns the instance ID from a response, with or without its envelope. Searches a truncated
 * response as text. Returns undefined unless the ID is certain.
 */
export function responseId(text: string): ResponseId | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const id = AT_THE_FRONT.exec(text)?.[1];
    return id === undefined ? undefined : { id: idKey(id), name: undefined };
  }
  const data = fieldOf(value, 'data') ?? value;
  const [id, name] = [fieldOf(data, 'id'), fieldOf(data, 'name')];
  if (typeof id !== 'string' || !resourceId(id).ok) return undefined;
  return { id: idKey(id), name: typeof name === 'string' ? name : undefined };
}
