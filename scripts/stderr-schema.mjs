// JSON Schema of one stderr line in JSON modes. `npm run generate` writes it to schemas/.

const ERROR = {
  type: 'object',
  additionalProperties: false,
  required: ['code', 'message', 'http_status', 'hint', 'retryable', 'resource', 'may_be_billing'],
  properties: {
    code: { type: 'string', pattern: '^[a-z_]+$' },
    message: { type: 'string' },
    http_status: { type: ['integer', 'null'] },
    hint: { type: ['string', 'null'], description: 'The next command.' },
    retryable: {
      type: 'boolean',
      description: 'The same command may succeed later and is safe to repeat.',
    },
    resource: { type: ['string', 'null'], description: 'ID or name of what the error is about.' },
    may_be_billing: { type: 'boolean' },
    last_events: {
      type: 'array',
      description: 'The last events of the instance, oldest first.',
      items: {
        type: 'object',
        required: ['created_at', 'type', 'message'],
        properties: {
          created_at: { type: 'string' },
          type: { type: 'string' },
          message: { type: 'string' },
        },
      },
    },
    errors: {
      type: 'array',
      description: 'One error per thing, if the command was about several.',
      items: { $ref: '#/$defs/error' },
    },
  },
};

function only(name, schema, description) {
  return {
    type: 'object',
    description,
    additionalProperties: false,
    required: [name],
    properties: { [name]: schema },
  };
}

export function stderrSchema({ warnings }) {
  const warning = {
    type: 'object',
    additionalProperties: false,
    required: ['code', 'message'],
    properties: {
      code: { type: 'string', enum: warnings.map(({ code }) => code) },
      message: { type: 'string' },
    },
  };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A line of stderr with -o json or -o jsonl',
    anyOf: [
      only('warning', warning, 'Printed as it happens.'),
      only('error', { $ref: '#/$defs/error' }, 'The last line, if the command failed.'),
      only('debug', { type: 'string' }, 'A line of --debug.'),
    ],
    $defs: { error: ERROR },
  };
}
