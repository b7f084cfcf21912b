// Exports only the used parts of ssh2. scripts/trims.mjs keeps ssh2's client and native parts out
// of the bundle.
import ssh2 from 'ssh2';

export type {
  Connection,
  FileEntry,
  PseudoTtyInfo,
  PublicKeyAuthContext,
  ServerChannel,
  Session,
  SFTPWrapper,
} from 'ssh2';

export const { Server, utils } = ssh2;
