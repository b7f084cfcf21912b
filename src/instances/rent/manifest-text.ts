import { loadYaml } from '../../output/formats/yaml.ts';
import { comingWord, durationWord } from '../../rules/times.ts';
import type { FileFlags } from './given.ts';
import { FIELDS } from './manifest-json.ts';

const HEADER = `# A job for gpucloud. Run it: gpucloud run -f job.yaml
# See what it would do: gpucloud run -f job.yaml --dry-run
# For completion in an editor: gpucloud run --schema > job.schema.json
# yaml-language-server: $schema=job.schema.json
`;

/**
 * Writes a job file in YAML with the given flags. Fields without a flag are examples in comments.
 * Without `showSecrets`, variables have no values: `run` then copies them from the environment.
 */
export async function manifestText(
  flags: FileFlags,
  { showSecrets }: { readonly showSecrets: boolean },
): Promise<string> {
  const yaml = await loadYaml();
  const fields = fieldsOf(flags, showSecrets);
  const parts = Object.entries(FIELDS).flatMap(([name, { description, example }]) => {
    const value = fields[name];
    if (value !== undefined) return [`# ${description}\n${yaml({ [name]: value })}`];
    if (example === undefined) return [];
    return [`# ${description}\n${yaml({ [name]: example }).replace(/^(?=.)/gm, '# ')}`];
  });
  return [HEADER, ...parts].join('\n');
}

/** Returns the fields of a file for these flags. */
function fieldsOf(flags: FileFlags, showSecrets: boolean): Readonly<Record<string, unknown>> {
  const { offer, terminateAfter, terminateAt, maxPrice, command, gitignore, here } = flags;
  const [first, ...others] = offer ?? [];
  const docker = definedOf({
    image: flags.dockerImage,
    run_command: flags.dockerCommand,
    shm_size_gb: flags.shmSize,
    ports: flags.port,
    volumes: flags.volume,
  });
  const isTimed = terminateAfter !== undefined || terminateAt !== undefined;
  return definedOf({
    name: flags.name,
    ...(others.length === 0 ? { offer_id: first } : { offers: offer }),
    retry_for: timeOf(flags.retryFor),
    image_id: flags.image,
    ssh_keys: flags.sshKey,
    template_id: flags.template,
    storage_drive_id: flags.drive,
    docker_config: Object.keys(docker).length === 0 ? undefined : docker,
    sync: flags.sync,
    exclude: flags.exclude,
    gitignore: gitignore === false ? false : undefined,
    setup: flags.setup,
    setup_files: flags.setupFile,
    command: command ?? FIELDS.command?.example,
    env: flags.env && variablesOf(flags.env, showSecrets),
    env_file: flags.envFile,
    pass_env: flags.passEnv,
    fetch: flags.fetch,
    fetch_every: timeOf(flags.fetchEvery),
    here: here === true ? true : undefined,
    count: flags.count,
    min_count: flags.minCount,
    terminate_after: isTimed ? timeOf(terminateAfter) : FIELDS.terminate_after?.example,
    terminate_at: terminateAt === undefined ? undefined : comingWord(terminateAt),
    if_idle: timeOf(flags.ifIdle),
    rescue: flags.rescue,
    rescue_budget: flags.rescueBudget && numberOf(flags.rescueBudget.toFixed()),
    max_price: maxPrice && numberOf(maxPrice.toFixed()),
    keep_on_failure: timeOf(flags.keepOnFailure),
    grace: timeOf(flags.grace),
  });
}

function definedOf(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function timeOf(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : durationWord(milliseconds);
}

/** Returns a number only if it has the same digits. */
function numberOf(text: string): number | string {
  return String(Number(text)) === text ? Number(text) : text;
}

function variablesOf(
  lines: readonly string[],
  showSecrets: boolean,
): Record<string, string | null> {
  return Object.fromEntries(
    lines.map((line) => {
      const [key = '', value] = line.split(/=(.*)/s);
      return [key, value !== undefined && showSecrets ? value : null];
    }),
  );
}
