import { array, boolean, number, optional, type output, strictObject, string } from 'zod/mini';
import { environmentKey, portNumber } from '../../rules/container.ts';
import { sharedMemoryGb } from '../../rules/numbers.ts';
import { broken, kept, type Verdict } from '../../rules/rule.ts';
import { follows, followsAsText, notEmpty } from '../field.ts';

// A client may accept either case from people, but the document's body has capitals.
function spokenProtocol(text: string): Verdict<string> {
  return text === 'TCP' || text === 'UDP' ? kept(text) : broken('must be TCP or UDP');
}

const port = strictObject({
  internal_port: optional(number().check(followsAsText(portNumber))),
  external_port: optional(number().check(followsAsText(portNumber))),
  protocol: optional(string().check(follows(spokenProtocol))),
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

/** `docker_config` (spec: POST /instances): the container that a user brings. */
export const dockerConfig = strictObject({
  image: string().check(follows(notEmpty)),
  run_command: optional(string()),
  shm_size_gb: optional(number().check(followsAsText(sharedMemoryGb))),
  ports: optional(array(port)),
  env: optional(
    array(strictObject({ key: string().check(follows(environmentKey)), value: string() })),
  ),
  volumes: optional(
    array(
      strictObject({
        container_path: string().check(follows(notEmpty)),
        host_path: string().check(follows(notEmpty)),
      }),
    ),
  ),
});

export type DockerConfig = output<typeof dockerConfig>;
