/** IDs in the sandbox's catalog that tests rent with. */
export const OFFER = '40904090-0000-4000-8000-000000000001';
export const IMAGE = '22042204-0000-4000-8000-000000000011';

/** Flags that every `instances create` requires. */
export const HARDWARE = ['--offer', OFFER, '--image', IMAGE] as const;
