/** The words of the API document (Instance status). New ones may come. */
export const INSTANCE_STATUSES: readonly string[] = [
  'CREATING',
  'PROVISIONING',
  'INSTALLING',
  'ACTIVE',
  'STOPPING',
  'STOPPED',
  'STARTING',
  'REBOOTING',
  'TERMINATING',
  'TERMINATED',
  'ERROR',
];
