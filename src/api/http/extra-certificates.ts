import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { faultOf } from '../../system/error-code.ts';

/** Why the file of NODE_EXTRA_CA_CERTS adds no certificate. */
export interface CertificateFault {
  /** Completes "NODE_EXTRA_CA_CERTS names FILE, which …". */
  readonly what: string;
  readonly isDer?: true;
}

/** Returns what is wrong with a file of certificates. Node.js ignores most such files in silence. */
export function certificateFault(file: string): CertificateFault | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    return { what: `can't be read (${faultOf(error)})` };
  }
  if (/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/.test(bytes.toString('latin1'))) {
    return isCertificate(bytes) ? undefined : { what: 'has a damaged certificate' };
  }
  // A DER file starts with the bytes of an ASN.1 sequence.
  if (bytes[0] === 0x30 && bytes[1] === 0x82) {
    return { what: 'is in DER format, not PEM', isDer: true };
  }
  return { what: bytes.length === 0 ? 'is empty' : 'contains no PEM certificate' };
}

/** Whether the first certificate can be read. */
function isCertificate(bytes: Buffer): boolean {
  try {
    new X509Certificate(bytes);
    return true;
  } catch {
    return false;
  }
}
