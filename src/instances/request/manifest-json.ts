import { createFieldsJsonSchema } from '../../api/schemas/create-fields-json.ts';

/** What an editor shows beside a field. */
const ADDED: Readonly<Record<string, { description: string; pattern?: string }>> = {
  offer_id: {
    description: 'The offer: which hardware. An id, or a name that "gpucloud catalog list" shows.',
  },
  image_id: {
    description:
      'The base image: which system. An id, or a name that "gpucloud catalog list" shows.',
  },
  instance_name: {
    description: '3 to 50 Latin letters, digits and hyphens; starts with a letter.',
    pattern: '^(?=.{3,50}$)[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9]$',
  },
  ssh_keys: { description: 'SSH keys, by id, name or fingerprint.' },
  template_id: { description: 'An application template, by id, slug or name.' },
  storage_drive_id: { description: 'A cloud drive, by id or name.' },
  docker_config: { description: 'A container to run.' },
  shm_size_gb: { description: 'Shared memory in GB, at least 0.1.' },
  ports: { description: 'Published ports; TCP where no protocol is given.' },
  env: { description: 'Environment variables.' },
  volumes: { description: 'Folders of the machine inside the container.' },
};

/** The JSON Schema (2020-12) of a file for `instances create --file`, from the schema itself. */
export function manifestJsonSchema(): Record<string, unknown> {
  const schema = JSON.stringify(createFieldsJsonSchema());
  return {
    title: 'A machine for "gpucloud instances create --file"',
    // No key but a field's is called like one.
    ...JSON.parse(schema, (name, value) =>
      Object.hasOwn(ADDED, name) ? { ...value, ...ADDED[name] } : value,
    ),
  };
}
