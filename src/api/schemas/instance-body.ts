import { lazy } from '../../lazy.ts';
import { instanceName } from '../../rules/names.ts';
import { SHARED_MEMORY_GB } from '../../rules/numbers.ts';
import * as z from '../../zod.ts';
import { filled, type Infer, ruled } from './fields.ts';

/**
 * API document: Endpoints, POST /instances, `docker_config`. The document marks both port fields
 * optional, but a port needs both.
 */
const dockerConfig = lazy(() => {
  const port = z.number().check(z.int(), z.gte(1), z.lte(65535));
  return z.strictObject({
    image: filled(),
    run_command: z.optional(z.string()),
    shm_size_gb: z.optional(
      z.number().check(z.gte(SHARED_MEMORY_GB.least), z.lte(SHARED_MEMORY_GB.most)),
    ),
    ports: z.optional(
      z.array(
        z.strictObject({
          internal_port: port,
          external_port: port,
          protocol: z.optional(z.enum(['TCP', 'UDP'])),
          name: z.optional(z.string()),
          is_main: z.optional(z.boolean()),
        }),
      ),
    ),
    // Rejects only keys that no environment can hold, since the document does not define "a valid
    // environment key". The command line checks the usual rule and has a flag to skip it.
    env: z.optional(
      z.array(
        z.strictObject({
          key: z.string().check(z.regex(/^[^=\0]+$/, 'must not be empty or contain "="')),
          value: z.string(),
        }),
      ),
    ),
    volumes: z.optional(z.array(z.strictObject({ container_path: filled(), host_path: filled() }))),
  });
});

/** API document: Endpoints, POST /instances. */
export const createInstanceBody = lazy(() =>
  z.strictObject({
    offer_id: filled(),
    image_id: filled(),
    instance_name: ruled(instanceName),
    ssh_keys: z.optional(z.array(filled())),
    template_id: z.optional(filled()),
    storage_drive_id: z.optional(filled()),
    docker_config: z.optional(dockerConfig()),
  }),
);

/** The optional fields of POST /instances: the contents of a file for `instances create`. */
export const createInstanceFields = lazy(() =>
  z.partial(z.extend(createInstanceBody(), { docker_config: z.partial(dockerConfig()) })),
);

/** API document: Endpoints, POST /instances/{id}/reorder. `new_name` has no documented rule. */
export const reorderInstanceBody = lazy(() => z.strictObject({ new_name: filled() }));

export type DockerConfig = Infer<typeof dockerConfig>;
export type CreateInstanceBody = Infer<typeof createInstanceBody>;
export type ReorderInstanceBody = Infer<typeof reorderInstanceBody>;
