interface Setting {
  readonly variables: readonly string[];
  /** Flag that overrides this variable. */
  readonly flag?: string;
  readonly meaning: string;
}

/** All of gpucloud's environment variables, for the help, the reference and docs/settings.md. */
export const ENVIRONMENT: readonly Setting[] = [
  { variables: ['GPUCLOUD_PROFILE'], flag: '--profile', meaning: 'the active profile' },
  {
    variables: ['GPUCLOUD_BASE_URL'],
    flag: '--base-url',
    meaning: 'the base URL of the service',
  },
  { variables: ['GPUCLOUD_API_KEY'], meaning: 'the API key' },
  { variables: ['GPUCLOUD_OUTPUT'], flag: '--output', meaning: 'the output format' },
  { variables: ['GPUCLOUD_NO_INPUT', 'CI'], flag: '--no-input', meaning: 'never prompt' },
  { variables: ['NO_COLOR', 'FORCE_COLOR'], flag: '--color', meaning: 'when to use colours' },
  { variables: ['TERM'], meaning: '`dumb` turns off colours and the spinner' },
  {
    variables: ['COLUMNS'],
    meaning: 'the terminal width, if the terminal reports none',
  },
  { variables: ['GPUCLOUD_CONFIG_DIR'], meaning: 'the folder of `config.json`' },
  {
    variables: ['GPUCLOUD_STATE_DIR'],
    meaning: 'the folder of the journal and the sandbox',
  },
  {
    variables: ['XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'],
    meaning: 'on Linux, the parents of the default folders',
  },
  {
    variables: ['APPDATA', 'LOCALAPPDATA'],
    meaning: 'on Windows, the parents of the default folders',
  },
  {
    variables: ['GPUCLOUD_REAP_ENTRY'],
    meaning: 'marks the runs that `instances reap --install` schedules',
  },
  { variables: ['SHELL'], meaning: 'the default shell of `completion --install`' },
  {
    variables: ['XDG_DATA_HOME', 'BASH_COMPLETION_USER_DIR', 'ZDOTDIR'],
    meaning: 'the folders in which `completion --install` writes',
  },
  {
    variables: ['HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
    meaning: 'proxies, as in curl',
  },
  {
    variables: ['NODE_EXTRA_CA_CERTS'],
    meaning: 'a file of extra certificates to trust',
  },
];
