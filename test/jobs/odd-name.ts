/** A name that gpucloud doesn't accept, so that its commands show the ID. */
export const ODD = 'my box';

/** Returns what a text says of an instance if its name is odd. */
export function ofOddName(text: string, name: string, id: string): string {
  const inCommand = (line: string) => line.replace(new RegExp(`\\b${name}\\b`, 'g'), id);
  return text
    .replace(/(?:gpucloud|(?<=[:,] )(?:jobs|instances)) (?:(?!\. )[^;,(])*/g, inCommand)
    .replace(new RegExp(`\\b${name}\\b`, 'g'), ODD);
}
