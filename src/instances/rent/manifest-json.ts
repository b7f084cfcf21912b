import { toJSONSchema } from '../../json-results/json-schema.ts';
import { manifestSchema } from './manifest-schema.ts';

/** Descriptions for editors, added to fields. */
const ADDED: Readonly<Record<string, { description: string; pattern?: string }>> = {
  $schema: { description: 'The address of this schema, for editors.' },
  offer_id: {
    description: 'The offer (hardware): an ID, or a name from "gpucloud catalog list".',
  },
  offers: { description: 'Offers to try in this order, instead of offer_id.' },
  image_id: {
    description: 'The base image: an ID, or a name from "gpucloud catalog list".',
  },
  instance_name: {
    description:
      '3 to 50 letters (a-z), digits or hyphens; starts with a letter, does not end with a hyphen.',
    pattern: '^(?=.{3,50}$)[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9]$',
  },
  ssh_keys: { description: 'SSH keys, by ID, name or fingerprint.' },
  template_id: { description: 'An application template, by ID, slug or name.' },
  storage_drive_id: { description: 'A cloud drive, by ID or name.' },
  docker_config: { description: 'A container to run.' },
  shm_size_gb: { description: 'Shared memory in GB, at least 0.1.' },
  ports: { description: 'Published ports; TCP is the default protocol.' },
  env: { description: 'Environment variables.' },
  volumes: { description: 'Instance folders to mount in the container.' },
  terminate_after: {
    description: 'Terminate the instance after this time, such as 4h.',
    pattern: '^[0-9]{1,9}(ms|s|m|h|d)$',
  },
  terminate_at: {
    description: 'Terminate the instance at this time, such as 18:00 or 2026-01-31T18:00.',
  },
  max_price: { description: 'Terminate the instance at once if it costs more roubles per hour.' },
};

/** Builds the JSON Schema (2020-12) for `instances create --file` from the zod schema. */
export function manifestJsonSchema(): Record<string, unknown> {
  const schema = JSON.stringify(toJSONSchema(manifestSchema()));
  return {
    title: 'An instance for "gpucloud instances create --file"',
    // Only fields have these names. `$schema` is also the schema's own address, a text.
    ...JSON.parse(schema, (name, value) =>
      Object.hasOwn(ADDED, name) && typeof value === 'object'
        ? { ...value, ...ADDED[name] }
        : value,
    ),
  };
}
