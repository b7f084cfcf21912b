/** Reads a field of a structure without documented contents. */

export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** Returns a text field, or undefined if it is missing or empty. */
export function textField(value: unknown, name: string): string | undefined {
  const found = fieldOf(value, name);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

export function numberField(value: unknown, name: string): number | undefined {
  const found = fieldOf(value, name);
  return typeof found === 'number' ? found : undefined;
}
