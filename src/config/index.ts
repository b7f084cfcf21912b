export {
  type ConfigFile,
  type Profile,
  profileNames,
  profileOf,
  withoutProfile,
  withProfile,
} from './file.ts';
export { type Folders, folders } from './folders.ts';
export { keyPlace } from './key.ts';
export { profileName, SANDBOX } from './names.ts';
export { notSignedIn, refusedKeyRemedy } from './remedies.ts';
export type { Settings, Sourced } from './resolve.ts';
export { type Resolved, resolveSettings, type SettingsFlags, withKey } from './resolve.ts';
export { type Config, openConfig } from './store.ts';
