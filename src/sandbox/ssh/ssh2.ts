// The parts of ssh2 in use. Its client and its native parts stay out of the bundle (scripts/trims.mjs).
import ssh2 from 'ssh2';

export type {
  Connection,
  PseudoTtyInfo,
  PublicKeyAuthContext,
  ServerChannel,
  Session,
  SFTPWrapper,
} from 'ssh2';

export const { Server, utils } = ssh2;
