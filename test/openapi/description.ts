import { readFileSync } from 'node:fs';
import { type Document, OpenAPIBackend, OpenAPIValidator } from 'openapi-backend';
import { parse } from 'yaml';
import type { Answer, RecordedRequest } from '../support/service.ts';

/** The subset of JSON Schema that the description uses and the tests read. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
}

function read(): Document & { components: { schemas: Readonly<Record<string, Schema>> } } {
  return parse(readFileSync(new URL('service.yaml', import.meta.url), 'utf8'));
}

const { schemas } = read().components;

/** Returns a schema by name, or the target of a reference. */
export function schemaOf(named: string | Schema): Schema {
  const name = typeof named === 'string' ? named : named.$ref?.split('/').at(-1);
  if (name === undefined) return named as Schema;
  const found = schemas[name];
  if (found === undefined) throw new Error(`the description has no schema ${name}`);
  return schemaOf(found);
}

export interface Judged {
  /** The operation of the request, if documented. */
  readonly operation: string | undefined;
  readonly complaints: readonly string[];
}

/** Checks traffic against the description with an independent library. */
export interface Checker {
  /** The IDs of all operations. */
  readonly operations: readonly string[];
  request(request: RecordedRequest): Judged;
  answer(operation: string, answer: Answer): readonly string[];
}

let described: Promise<Checker> | undefined;

/** Returns the checker of the description, whose many schemas are compiled once for all files of a worker. */
export function describedChecker(): Promise<Checker> {
  described ??= createChecker(read());
  return described;
}

/** Throws if the description is not valid OpenAPI. */
export async function createChecker(document: Document): Promise<Checker> {
  const backend = new OpenAPIBackend({
    definition: document,
    strict: true,
    validate: false,
  });
  await backend.init();
  const { router, definition } = backend;
  // Compiling all validators, and what checks their schemas, would take as long as the tests.
  const validator = new OpenAPIValidator({
    definition,
    router,
    lazyCompileValidators: true,
    ajvOpts: { allErrors: true, validateSchema: false },
  });

  return {
    operations: router.getOperations().map(({ operationId }) => operationId ?? ''),

    request(request) {
      const plain = { ...request, headers: { ...request.headers } };
      const operation = router.matchOperation(plain);
      const called = `${request.method} ${request.path}`;
      // The library accepts a trailing slash, which makes a different path.
      if (operation?.operationId === undefined || /\/(\?|$)/.test(request.path)) {
        return { operation: undefined, complaints: [`${called}: no such operation`] };
      }
      const { errors } = validator.validateRequest(plain, operation);
      const complaints = (errors ?? []).map(
        ({ instancePath, message, params }) =>
          `${called}: ${instancePath} ${message} ${JSON.stringify(params)}`,
      );
      // OpenAPI can't express the document's next two rules (Endpoints, Authentication).
      if (operation.requestBody === undefined && request.body !== undefined) {
        complaints.push(`${called}: there is a body and none is documented`);
      }
      if (
        request.body !== undefined &&
        !/^application\/json(;|$)/.test(request.headers['content-type'] ?? '')
      ) {
        complaints.push(`${called}: Content-Type is not application/json`);
      }
      return { operation: operation.operationId, complaints };
    },

    answer(operation, { status, body }) {
      // The library would accept an undocumented status.
      const documented = router.getOperation(operation)?.responses ?? {};
      if (documented[status] === undefined) {
        return [`${operation}: the status ${status} is not documented`];
      }
      const { errors } = validator.validateResponse(body, operation, status);
      return (errors ?? []).map(
        ({ instancePath, message, params }) =>
          `${operation} ${status}: ${instancePath} ${message} ${JSON.stringify(params)}`,
      );
    },
  };
}

/** Returns the description as data, for a test to change. */
export function copyOfDescription(): Document {
  return read();
}
