export function signatureOf(file: Buffer): { pages: number; stale: number } | undefined;
export function withoutSignature(file: Buffer): Buffer;
