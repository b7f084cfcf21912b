import { createFieldsJsonSchema } from '../../api/schemas/create-fields-json.ts';

/** What an editor shows beside a field. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  offer_id: 'The offer: which hardware. An id, or a name that "gpucloud catalog list" shows.',
  image_id: 'The base image: which system. An id, or a name that "gpucloud catalog list" shows.',
  instance_name: '3 to 50 Latin letters, digits and hyphens; starts with a letter.',
  ssh_keys: 'SSH keys, by id, name or fingerprint.',
  template_id: 'An application template, by id, slug or name.',
  storage_drive_id: 'A cloud drive, by id or name.',
  docker_config: 'A container to run.',
  shm_size_gb: 'Shared memory in GB, at least 0.1.',
  ports: 'Published ports; TCP where no protocol is given.',
  env: 'Environment variables.',
  volumes: 'Folders of the machine inside the container.',
};

/** JSON Schema can't say each rule by itself: the name's is given as a pattern. */
const PATTERNS: Readonly<Record<string, string>> = {
  instance_name: '^(?=.{3,50}$)[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9]$',
};

/** The JSON Schema (2020-12) of a file for `instances create --file`, from the schema itself. */
export function manifestJsonSchema(): Record<string, unknown> {
  const schema = described(createFieldsJsonSchema());
  return { title: 'A machine for "gpucloud instances create --file"', ...schema };
}

/**
 * The finished schema with words at each named field. They are not put in while it is made: there
 * fields of one kind share one object, and the words of one would stand at all.
 */
function described(schema: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === 'properties') return [key, describedFields(value)];
      return [key, isObject(value) ? described(value) : value];
    }),
  );
}

function describedFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const description = DESCRIPTIONS[name];
      const pattern = PATTERNS[name];
      return [
        name,
        {
          ...described(field),
          ...(description === undefined ? {} : { description }),
          ...(pattern === undefined ? {} : { pattern }),
        },
      ];
    }),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
