export {
  type ConfigFile,
  emptyFile,
  keyPlace,
  type Profile,
  profileName,
  profileNames,
  profileOf,
  SANDBOX,
  withoutProfile,
  withProfile,
} from './file.ts';
export { type Folders, folders } from './folders.ts';
export { notSignedIn, refusedKeyRemedy } from './remedies.ts';
export type { Settings, Sourced } from './resolve.ts';
export {
  needsNoProfile,
  type Resolved,
  resolveSettings,
  type SettingsFlags,
  withKey,
} from './resolve.ts';
export { type Config, openConfig, peekConfig } from './store.ts';
