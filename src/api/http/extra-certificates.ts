import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { faultOf } from '../../system/error-code.ts';

/** Why the file of NODE_EXTRA_CA_CERTS adds no certificate, and how to correct that. */
export interface CertificateFault {
  /** Completes "NODE_EXTRA_CA_CERTS names FILE, which …". */
  readonly what: string;
  readonly remedy: string;
}

const REMEDY = 'name a file of PEM certificates, or unset the variable';

/** Returns what is wrong with a file of certificates. Node.js ignores most such files in silence. */
export function certificateFault(file: string): CertificateFault | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    return { what: `can't be read (${faultOf(error)})`, remedy: REMEDY };
  }
  if (/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/.test(bytes.toString('latin1'))) {
    return isCertificate(bytes) ? undefined : { what: 'has a damaged certificate', remedy: REMEDY };
  }
  // A DER file starts with the bytes of an ASN.1 sequence.
  if (bytes[0] === 0x30 && bytes[1] === 0x82) {
    const remedy = `convert it: openssl x509 -inform der -in ${file} -out ${file}.pem`;
    return { what: 'is in DER format, not PEM', remedy };
  }
  return { what: bytes.length === 0 ? 'is empty' : 'contains no PEM certificate', remedy: REMEDY };
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
