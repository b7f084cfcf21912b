import { environmentKey, portNumber } from '../../rules/container.ts';
import { anyName } from '../../rules/names.ts';
import { sharedMemoryGb } from '../../rules/numbers.ts';
import {
  array,
  boolean,
  number,
  optional,
  type output,
  strictObject,
  string,
  enum as within,
} from '../../zod.ts';
import { follows, followsAsText } from '../field.ts';

const port = strictObject({
  internal_port: optional(number().check(followsAsText(portNumber))),
  external_port: optional(number().check(followsAsText(portNumber))),
  protocol: optional(within(['TCP', 'UDP'])),
  name: optional(string()),
  is_main: optional(boolean()),
}).check((context) => {
  const { internal_port, external_port } = context.value;
  if (internal_port === undefined && external_port === undefined) {
    context.issues.push({
      code: 'custom',
      message: 'must have internal_port or external_port',
      input: context.value,
    });
  }
});

/** `docker_config` (API document: POST /instances): the container that a user brings. */
export const dockerConfig = strictObject({
  image: string().check(follows(anyName)),
  run_command: optional(string()),
  shm_size_gb: optional(number().check(followsAsText(sharedMemoryGb))),
  ports: optional(array(port)),
  env: optional(
    array(strictObject({ key: string().check(follows(environmentKey)), value: string() })),
  ),
  volumes: optional(
    array(
      strictObject({
        container_path: string().check(follows(anyName)),
        host_path: string().check(follows(anyName)),
      }),
    ),
  ),
});

export type DockerConfig = output<typeof dockerConfig>;
