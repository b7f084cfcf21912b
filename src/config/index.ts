export { type Config, openConfig } from './config.ts';
export {
  type ConfigFile,
  type Profile,
  profileNames,
  profileOf,
  withoutProfile,
  withProfile,
} from './file.ts';
export { type Folders, folders } from './folders.ts';
export { storedKey } from './key.ts';
export { profileName, SANDBOX } from './names.ts';
export { noKeyRemedy, refusedKeyRemedy } from './remedies.ts';
export { resolveSettings, type SettingsFlags } from './resolve.ts';
export type { Settings, Sourced } from './settings.ts';
