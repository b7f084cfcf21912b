export function zipOf(
  entries: Readonly<Record<string, Buffer>>,
  seconds: number,
  level: number,
): Buffer;
