import { instanceName } from '../../rules/names.ts';
import {
  array,
  boolean,
  gte,
  type Infer,
  int,
  lte,
  number,
  oneOf,
  optional,
  partial,
  regex,
  strictObject,
  string,
} from '../../schema/schema.ts';
import { filled, ruled } from './fields.ts';

const port = number(int(), gte(1), lte(65535));

/** API document: Endpoints, POST /instances, `docker_config`. No field of a port is starred. */
const dockerFields = {
  image: filled,
  run_command: optional(string()),
  shm_size_gb: optional(number(gte(0.1))),
  ports: optional(
    array(
      strictObject({
        internal_port: optional(port),
        external_port: optional(port),
        protocol: optional(oneOf('TCP', 'UDP')),
        name: optional(string()),
        is_main: optional(boolean()),
      }),
    ),
  ),
  // "A valid environment key" has no rule in the document. The command line checks the usual one
  // and has a flag against it, so here only what no environment can hold is refused.
  env: optional(
    array(
      strictObject({
        key: string(regex(/^[^=\0]+$/, 'it is not empty and has no "="')),
        value: string(),
      }),
    ),
  ),
  volumes: optional(array(strictObject({ container_path: filled, host_path: filled }))),
};
const dockerConfig = strictObject(dockerFields);

const fields = {
  offer_id: filled,
  image_id: filled,
  instance_name: ruled(instanceName),
  ssh_keys: optional(array(filled)),
  template_id: optional(filled),
  storage_drive_id: optional(filled),
  docker_config: optional(dockerConfig),
};

/** API document: Endpoints, POST /instances. */
export const createInstanceBody = strictObject(fields);

/** The same fields, each of which may be left out: what a file of `instances create` may hold. */
export const createInstanceFields = strictObject(
  partial({ ...fields, docker_config: strictObject(partial(dockerFields)) }),
);

/** API document: Endpoints, POST /instances/{id}/reorder. `new_name` has no documented rule. */
export const reorderInstanceBody = strictObject({ new_name: filled });

export type DockerConfig = Infer<typeof dockerConfig>;
export type CreateInstanceBody = Infer<typeof createInstanceBody>;
export type CreateInstanceFields = Infer<typeof createInstanceFields>;
export type ReorderInstanceBody = Infer<typeof reorderInstanceBody>;
