import { isUuid, resourceId } from '../rules/names.ts';

interface AnswerId {
  readonly id: string;
  readonly name: string | undefined;
}

/**
 * Before the id only plain values and the envelope may stand, since the id of an offer or image
 * nested further in is not the instance's.
 */
const AT_THE_FRONT =
  /^\s*\{(?:[^{}[\]]*"data"\s*:\s*\{)?[^{}[\]]*?"id"\s*:\s*"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/i;

/**
 * The instance's id in a response, with or without the envelope. One that was cut off behind the id
 * is searched as text. undefined if there is none for certain.
 */
export function answerId(text: string): AnswerId | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const id = AT_THE_FRONT.exec(text)?.[1];
    return id === undefined ? undefined : { id, name: undefined };
  }
  const data = fieldOf(value, 'data') ?? value;
  const [id, name] = [fieldOf(data, 'id'), fieldOf(data, 'name')];
  if (typeof id !== 'string' || !resourceId(id).ok) return undefined;
  return { id, name: typeof name === 'string' ? name : undefined };
}

/** `data.id` of a response without success; an instance's id is a UUID (API document: Instance). */
export function refusedId(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const id = fieldOf(fieldOf(value, 'data'), 'id');
  return typeof id === 'string' && isUuid(id) ? id : undefined;
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;
}
