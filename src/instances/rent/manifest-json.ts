import { toJSONSchema } from '../../json-results/json-schema.ts';
import { manifestSchema } from './manifest-schema.ts';

interface About {
  readonly description: string;
  readonly pattern?: string;
  /** A value for editors, and for the example that `run --init` writes. */
  readonly example?: unknown;
}

const NAME_PATTERN = '^(?=.{3,50}$)[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9]$';
const DURATION_PATTERN = '^([0-9]{1,9}(ms|s|m|h|d))+$';

const duration = (description: string, example: string): About => ({
  description,
  pattern: DURATION_PATTERN,
  example,
});

/** Describes each field of the file by its path, in the order of an example. */
export const FIELDS: Readonly<Record<string, About>> = {
  $schema: { description: 'The address of this schema, for editors.' },
  name: {
    description:
      'Instance name: 3 to 50 letters (a-z), digits or hyphens; starts with a letter, does not end with a hyphen.',
    pattern: NAME_PATTERN,
    example: 'trainer',
  },
  instance_name: { description: 'Same as name.', pattern: NAME_PATTERN },
  offer_id: {
    description: 'The offer (hardware): an ID, or a name from "gpucloud catalog list".',
    example: 'RTX 4090',
  },
  offers: {
    description: 'Offers to try in this order, instead of offer_id.',
    example: ['RTX 4090', 'A100 80GB'],
  },
  retry_for: duration('Keep retrying refused offers for this long.', '6h'),
  image_id: {
    description: 'The base image: an ID, or a name from "gpucloud catalog list".',
    example: 'Ubuntu 22.04',
  },
  ssh_keys: { description: 'SSH keys, by ID, name or fingerprint.', example: ['laptop'] },
  template_id: {
    description: 'An application template, by ID, slug or name.',
    example: 'jupyterlab',
  },
  storage_drive_id: { description: 'A cloud drive, by ID or name.', example: 'datasets' },
  docker_config: { description: 'A container to run.', example: { image: 'nginx:1.27' } },
  'docker_config.image': { description: 'The image of the container.' },
  'docker_config.run_command': { description: 'The command to run in the container.' },
  'docker_config.shm_size_gb': { description: 'Shared memory in GB, at least 0.1.' },
  'docker_config.ports': { description: 'Published ports; TCP is the default protocol.' },
  'docker_config.ports.external_port': { description: 'The port on the instance.' },
  'docker_config.ports.internal_port': { description: 'The port in the container.' },
  'docker_config.ports.protocol': { description: 'TCP (the default) or UDP.' },
  'docker_config.ports.name': { description: 'A name for the port, such as web.' },
  'docker_config.ports.is_main': { description: 'Whether "instances open" opens this port.' },
  'docker_config.env': { description: 'Variables of the container, each with key and value.' },
  'docker_config.env.key': { description: "The variable's name." },
  'docker_config.env.value': { description: "The variable's value." },
  'docker_config.volumes': { description: 'Instance folders to mount in the container.' },
  'docker_config.volumes.container_path': { description: 'The folder in the container.' },
  'docker_config.volumes.host_path': { description: 'The folder on the instance.' },
  sync: {
    description: 'Folder to copy to the instance. Relative paths start at the folder of this file.',
    example: '.',
  },
  exclude: { description: 'Files to skip, as in .gitignore.', example: ['*.log', 'data/'] },
  gitignore: {
    description: 'Whether to skip files that match a .gitignore file (default: true).',
    example: false,
  },
  setup: {
    description:
      'Runs before the command, in its folder, with "sh -e". If it fails, the job ends. Not with here.',
    example: 'pip install -r requirements.txt',
  },
  setup_files: {
    description: 'On an existing instance, run the setup again if one of these files changes.',
    example: ['requirements.txt'],
  },
  command: {
    description: 'The command: a list of words, or one line for "sh -c".',
    example: 'nvidia-smi',
  },
  env: {
    description:
      'Variables of the command, or of the container. Without a value, copied from your environment.',
    example: { EPOCHS: '3', HF_TOKEN: null },
  },
  env_file: { description: 'Files of KEY=VALUE lines to add to env.', example: ['job.env'] },
  pass_env: {
    description: 'Variables of your environment to pass to the command. Not with here.',
    example: ['HF_TOKEN'],
  },
  fetch: {
    description: 'Files and folders to copy back: REMOTE or REMOTE:LOCAL.',
    example: ['results'],
  },
  fetch_every: duration(
    'Also copy them back this often while the command runs. Not with here.',
    '10m',
  ),
  here: {
    description: 'Whether to run the command on this computer, with files that list the instances.',
    example: true,
  },
  count: { description: 'Rent NAME-1 to NAME-N.', example: 4 },
  min_count: {
    description: 'Terminate all new instances if fewer than this many succeed.',
    example: 3,
  },
  terminate_after: duration('Terminate the instance after this time, such as 4h.', '4h'),
  terminate_at: {
    description:
      'Terminate the instance at this time, such as 18:00, "fri 18:00" or 2026-01-31T18:00.',
    example: '18:00',
  },
  if_idle: duration('Terminate the instance after this time without use, at least 10m.', '45m'),
  rescue: {
    description: 'Before the instance ends by itself, copy these here: REMOTE or REMOTE:LOCAL.',
    example: ['results'],
  },
  rescue_budget: {
    description: 'How many roubles a failing rescue may cost after the deadline.',
    example: 50,
  },
  max_price: {
    description: 'Terminate the instance at once if it costs more roubles per hour.',
    example: 90,
  },
  keep_on_failure: duration('If the job fails, keep the instance for this time.', '30m'),
  grace: duration('Interrupt the command this long before the deadline to copy results.', '10m'),
};

/** Returns the JSON Schema as `--schema` prints it. */
export function manifestSchemaText(): string {
  return `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`;
}

/** A part of a JSON Schema. */
type Part = Readonly<Record<string, unknown>>;

/** Builds the JSON Schema (2020-12) for `run --file` and `instances create --file`. */
export function manifestJsonSchema(): Part {
  return {
    title: 'A job for "gpucloud run --file", or an instance for "gpucloud instances create --file"',
    ...described(toJSONSchema(manifestSchema()) as Part, ''),
  };
}

/** Adds the descriptions to the fields below a path. */
function described(part: Part, path: string): Part {
  const { properties, items } = part as { properties?: Record<string, Part>; items?: Part };
  return {
    ...part,
    ...(items && { items: described(items, path) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => {
          const own = `${path}${name}`;
          const { example, ...about } = { ...FIELDS[own] };
          const examples = example === undefined ? {} : { examples: [example] };
          return [name, { ...described(property, `${own}.`), ...about, ...examples }];
        }),
      ),
    }),
  };
}
