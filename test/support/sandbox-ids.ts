/** IDs in the sandbox's catalog that tests rent with. */
export const OFFER = '40904090-0000-4000-8000-000000000001';
export const IMAGE = '22042204-0000-4000-8000-000000000011';

/** Flags that every `instances create` requires. */
export const OFFERED = ['--offer', OFFER, '--image', IMAGE] as const;

/** The same for tests that need no SSH key: gpucloud then reads no keys. */
export const HARDWARE = [...OFFERED, '--no-ssh-key'] as const;
