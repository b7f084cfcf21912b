import { createFieldsJsonSchema } from '../../api/schemas/create-fields-json.ts';

/** Descriptions that an editor shows beside a field. */
const ADDED: Readonly<Record<string, { description: string; pattern?: string }>> = {
  offer_id: {
    description: 'The offer (hardware): an ID, or a name from "gpucloud catalog list".',
  },
  image_id: {
    description: 'The base image: an ID, or a name from "gpucloud catalog list".',
  },
  instance_name: {
    description: '3 to 50 Latin letters, digits and hyphens; starts with a letter.',
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
};

/** Builds the JSON Schema (2020-12) for `instances create --file` from the zod schema. */
export function manifestJsonSchema(): Record<string, unknown> {
  const schema = JSON.stringify(createFieldsJsonSchema());
  return {
    title: 'An instance for "gpucloud instances create --file"',
    // Only fields have keys with these names.
    ...JSON.parse(schema, (name, value) =>
      Object.hasOwn(ADDED, name) ? { ...value, ...ADDED[name] } : value,
    ),
  };
}
