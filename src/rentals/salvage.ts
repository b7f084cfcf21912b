import { resourceId } from '../rules/ids.ts';

/**
 * Finds the id of a new machine in the raw text of an answer, before anything else of it is
 * checked: a machine whose id is lost bills unseen, however broken the rest of its answer is.
 *
 * An envelope that reads as JSON tells it under `data.id` (API document: POST /instances, 201).
 * In a body that was cut short, the first `"id"` that follows `"data":{` is the machine's own.
 */
export function salvageId(text: string): string | undefined {
  const id =
    idOfEnvelope(text) ?? /"data"\s*:\s*\{[^{}[\]]*?"id"\s*:\s*"([^"\\]+)"/.exec(text)?.[1];
  return id !== undefined && resourceId(id).ok ? id : undefined;
}

function idOfEnvelope(text: string): string | undefined {
  try {
    const envelope: unknown = JSON.parse(text);
    const id = field(field(envelope, 'data'), 'id');
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
